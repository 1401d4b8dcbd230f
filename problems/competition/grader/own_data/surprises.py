"""What of the user's tables is not as he may think, and what then holds: a line each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from ..tables.amounts import odd_one
from ..tables.columns import listed
from ..tables.contents import read_texts
from ..tables.counts import counted
from ..tables.exact import Unusable
from ..tables.formats import kind_of
from ..tables.keys import as_keys
from ..tables.pieces import is_text_column
from ..tables.times import two_ways
from .forms_of_both import told_words
from .own_tables import OwnTables, labels_alone

MANY_VALUES = 10
"""Numbers of a target, beyond which one that is far from the others may be no value."""


def _sentinels(labelled: Any, targets: list[str]) -> Iterator[str]:
    """Numbers of a target that may say that there is none: several rows have the same, further from all others than
    these are from each other."""
    for name in targets:
        if not pd.api.types.is_numeric_dtype(labelled[name]) or labelled[name].nunique() <= MANY_VALUES:
            continue
        for end in (labelled[name].min(), labelled[name].max()):
            others = labelled[name][labelled[name] != end]
            rows = len(labelled) - len(others)
            if rows > 1 and (others - end).abs().min() > others.max() - others.min():
                where = f"{counted(rows, 'row')}, far from all others"
                yield f"{name} is {end:g} in {where}: empty these cells if it stands for none"


def _lists(labelled: Any, targets: list[str]) -> Iterator[str]:
    """A line where the cells of a target are lists: several labels of a row."""
    for name in [name for name in targets if is_text_column(labelled[name])]:
        if labelled[name].astype(str).str.match(r"\s*\[.*\]\s*$").all():
            each = "where they are several labels of a row, a column of 0 and 1 for each tells more (--data.target=a,b)"
            yield f"{name} holds lists, and each different list is a class of its own; {each}"


def _written_otherwise(tables: OwnTables) -> Iterator[str]:
    """A line where a target is read as numbers, and the sample writes it in the form in which it was: `25:00`."""
    for name in [name for name in tables.targets if name in tables.forms and name in tables.sample]:
        cells = read_texts(tables.files["sample"], name)
        if len(cells) and pd.to_numeric(cells, errors="coerce").isna().all():
            file = tables.files["sample"].name
            yield f"submission.csv will hold {name} as numbers, where {file} has {cells.iloc[0]!r:.40}"


def _not_counted(labelled: Any, targets: list[str], metric: str) -> Iterator[str]:
    """A line where a metric passes over rows, as Kaggle's Rossmann over days on which a shop was closed."""
    for name in targets if metric == "rmspe" else ():
        if rows := int((labelled[name] == 0).sum()):
            yield f"{name} is 0 in {counted(rows, 'row')}, which RMSPE does not count"


def _asks_for_lists(tables: OwnTables) -> str:
    """That the sample submission has a row for each customer, say, of whom the training table has several."""
    for name in [name for name in tables.sample if name in tables.others]:
        wanted, known = as_keys(tables.sample[name]), as_keys(tables.column(name))
        if wanted.is_unique and not known.is_unique and known.isin(set(wanted)).any():
            each = f"it asks for a row for each {name}, of which {tables.files['train'].name} has several"
            return f"; {each}: recommendations are no such task, rows are scored one by one"
    return ""


def _unread_test(tables: OwnTables, request: dict[str, Any]) -> Iterator[str]:
    """A line where a file is called like the rows to predict and is in a form that is not read."""
    if "test" in tables.files or request.get("alone"):
        return
    for path in sorted(Path(request["folder"]).glob("[tT][eE][sS][tT].*")):
        if path.is_file():
            try:
                kind_of(path)
                why = "in a form that is not read: save it as CSV or Parquet"
            except Unusable as error:
                why = str(error).partition("' is ")[2] or str(error)
            yield f"{path.name} is {why}: there are no rows to predict"


def _second_head(tables: OwnTables) -> Iterator[str]:
    """A line where the first row names columns that the head leaves without a name, as merged cells above it do."""
    first = next(tables.train.pieces()).iloc[:1]
    nameless = [name for name in first if name.startswith("Unnamed: ")]
    names = [cell for name in nameless for cell in first[name] if isinstance(cell, str)]
    if nameless and len(names) == len(nameless) and first.isna().any(axis=None):
        file = tables.files["train"].name
        yield f"{file} seems to have a second row of names ({listed(names)}): leave one, with a name for each column"


def surprises(tables: OwnTables, request: dict[str, Any]) -> Iterator[str]:
    """What is not as the user may think, and what then holds; of tables that we made of his files, no columns."""
    labelled, theirs, targets = tables.labelled, tables.test, tables.targets
    if len(targets) > 1:
        single = labelled.isin([0, 1]).all(axis=None) and (labelled.sum(axis=1) == 1).all()
        if single and request["metric"] == "logloss":
            yield (
                "each row has a single 1 among the targets: their log loss as classes is another number than the mean "
                "over columns (a function of yours is given all of them: --data.metric=FILE.py:FUNCTION)"
            )
        scored = (
            "your function is given a column for each" if request.get("function") else "its score is the mean over them"
        )
        yield f"{counted(len(targets), 'target')}: a program predicts all of them, and {scored}"
    if left := tables.train.count - len(labelled) - request.get("unlabelled", 0):
        lacks = f"without {' or '.join(targets)}"
        left_out = counted(left, f"row {lacks} is", f"rows {lacks} are")
        yield f"{left_out} left out{labels_alone(tables) if len(labelled) < tables.train.count / 2 else ''}"
    yield from _second_head(tables)
    head = next(tables.train.pieces(tables.features))
    for name in (name for name in head if is_text_column(head[name])):
        if ways := two_ways(head[name]):
            told = f"{name} holds dates written in several ways ({' and '.join(ways)})"
            yield f"{told}, and is read as words: write them alike"
        elif odd := odd_one(head[name]):
            yield f"{name} is read as words: '{odd[:40]}' and its like are no numbers in the form of its other cells"
    yield from told_words(head, theirs, tables.files.get("test"))
    yield from _unread_test(tables, request)
    if tables.no_rows:
        yield tables.no_rows
    elif "sample" in tables.files and "test" not in tables.files:
        why = _asks_for_lists(tables) or " (--data.test=FILE is a table of the rows that it names)"
        yield f"{tables.files['sample'].name} is not filled: there is no test table{why}"
    yield from _sentinels(labelled, targets)
    yield from _not_counted(labelled, targets, request["metric"] or "")
    yield from _lists(labelled, targets)
    yield from _written_otherwise(tables)
    if not request.get("sorted"):
        missing = [name for name in tables.others if name not in theirs]
        new = [str(name) for name in theirs if name not in tables.columns]
        if missing:
            yield f"test.csv has no column {listed(missing)}: nor have the rows that scores are of"
        if new:
            yield f"train.csv has no column {listed(new)}: left out of test.csv"
