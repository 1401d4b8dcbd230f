"""AIDE: a folder of data and, beside it, a text of the same name: in words, what to predict and how it is judged.

Target and metric are read where the files and the text leave no doubt: then rows are hidden and scores are graded. Else
a model has to say what its programs are worth.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from problems.neighbours.reading import Told, Translation, text_of
from utils.dataset_files import find_sample, find_table, find_train
from utils.metric_kinds import ALIASES, KINDS, MetricKind, metric_kind

NAME = "AIDE's task"
NEEDS = "AIDE's is a folder of data with FOLDER.md beside it"
_HEADING = re.compile(r"^#+[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_ORDERED = re.compile(r"\b(time[- ]?series|forecast\w*)\b", re.IGNORECASE)
_LOGARITHM = re.compile(
    r"\blogarithm\w*|\blog1p\b|\blogs?(?=[ -]+(of|transformed|scale|space)\b|[ ]?\()", re.IGNORECASE
)
"""What is said of values, and not of a file that is written."""
_TIMES = ("date", "datetime", "time", "timestamp")
_READ = ("data.target", "data.metric", "data.split")
_SHORT = frozenset({"f1", "r2"})
"""Names of metrics below three letters that are no words by chance."""


def recognises(folder: Path) -> bool:
    return _text(folder).is_file() and _train(folder) is not None


def read(folder: Path, told: Told) -> Translation:
    """As `data.dir`, `data.goal` and what the two tell about target, metric and the order of rows."""
    said = text_of(_text(folder))
    keys = {"problem.kind": "competition", "data.dir": str(folder), "data.goal": said}
    target = told.target or _target(folder, said)
    kind = metric_in(_part(said, "evaluat", "metric") or said)
    metric = told.metric or (kind and kind.name)
    if not target or not metric:
        missing = [word for word, found in (("target", target), ("metric", metric)) if not found]
        say = " and ".join(f"--data.{word}" for word in missing)
        hint = f"its text leaves the {' and '.join(missing)} open: say {say} to have scores graded"
        return Translation(keys, hints=(hint,), preset="competition")
    keys |= {"data.target": target, "data.metric": metric}
    times = [name for name in _columns(_train(folder)) if name.lower() in _TIMES]
    if len(times) == 1 and _ORDERED.search(said):
        keys["data.split"] = f"time:{times[0]}"
    read = ", ".join(f"{key}={value}" for key, value in keys.items() if key in _READ)
    return Translation(keys, hints=(f"as its files and its text are read: {read}",), preset="competition")


def metric_in(text: str) -> MetricKind | None:
    """The metric that a text names: the one of the longest name, so that an RMSE is no MSE; None without any."""
    for name in sorted({*KINDS, *ALIASES}, key=len, reverse=True):
        words = "[-_ ]*(?:the )?".join(map(re.escape, name.split("_")))
        if (len(name) > 2 or name in _SHORT) and re.search(rf"(?<![\w-]){words}(?![\w-])", text, re.IGNORECASE):
            kind = metric_kind(name)
            is_log = kind is not None and kind.name == "rmse" and _LOGARITHM.search(text)
            return KINDS["rmsle"] if is_log else kind
    return None


def _target(folder: Path, said: str) -> str | None:
    """What the sample submission asks for, what only the training table has, or the one column that the goal names."""
    train = _columns(_train(folder))
    wanted = [name for name in _columns(find_sample(folder))[1:] if name in train]
    if wanted:
        return ",".join(wanted)
    test = _columns(find_table(folder, "test"))
    only = [name for name in train if name not in test] if test else []
    if len(only) == 1:
        return only[0]
    goal = _part(said, "goal", "task") or said
    named = [name for name in train if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", goal, re.IGNORECASE)]
    longest = [name for name in named if not any(name != other and name.lower() in other.lower() for other in named)]
    return longest[0] if len(longest) == 1 else None


def _part(said: str, *words: str) -> str:
    """What stands below the headings that hold one of the words; '' without such."""
    parts = _HEADING.split(said)
    pairs = zip(parts[1::2], parts[2::2], strict=True)
    return "\n".join(text for heading, text in pairs if any(word in heading.lower() for word in words))


def _text(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.md")


def _train(folder: Path) -> Path | None:
    return find_train(folder, (find_table(folder, "test"), find_sample(folder)))


def _columns(table: Path | None) -> Sequence[str]:
    """The first line of a table in plain text; () for none, and for one of another format."""
    if table is None or not table.name.lower().endswith((".csv", ".tsv", ".tab", ".txt")):
        return ()
    try:
        with table.open(newline="", encoding="utf-8-sig") as file:
            head = file.readline()
    except (OSError, UnicodeDecodeError):
        return ()
    separator = max(",;\t|", key=head.count)
    try:
        return next(csv.reader([head.strip()], delimiter=separator), [])
    except csv.Error:  # a "word" of 131,072 characters: no names
        return ()
