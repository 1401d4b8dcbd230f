"""The winner as a notebook for Kaggle: the competition's own files in, a checked submission out, nothing of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.evaluation.grading import GradingFault, python_command, run_trusted
from core.state.node import Node
from problems.competition.prepared import LAUNCH, Prepared
from problems.competition.source import Source
from utils.errors import ConfigError, SwarmEvoError

_HEAD = """# {title}

{message}

Attach the data (*Add Input*) and run all cells: the program learns every labelled row and leaves `submission.csv`.
Elsewhere, set `SWARM_EVO_DATA` to the folder of the data, and `SWARM_EVO_WORKING` to one to work in.
"""

_FIND = """import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd

DATA = Path(os.environ.get("SWARM_EVO_DATA", {data!r}))
os.chdir(os.environ.get("SWARM_EVO_WORKING", "/kaggle/working"))
for name in ("input", "working", "submission"):
    shutil.rmtree(name, ignore_errors=True)
    Path(name).mkdir()
"""

_LINK = """for path in DATA.iterdir():
    Path("input", path.name).symlink_to(path.resolve())
sample = pd.read_csv("input/sample_submission.csv")
"""

_TABLES = '''KEY, TARGETS, COLUMNS = {key!r}, {targets!r}, {columns!r}  # as the program knows them


def read(name):
    """The table of that name in the data, in a folder of it too."""
    return next(DATA.rglob(name))


train = pd.{train[function]}(read({train[file]!r}){train[how]})
{lost}train = train.dropna(subset=TARGETS)
test = pd.{test[function]}(read({test[file]!r}){test[how]})
{sample}{names}{whole}if KEY not in train:
    train.insert(0, KEY, range(len(train)))
    test.insert(0, KEY, range(len(train), len(train) + len(test)))
train.to_csv("input/train.csv", index=False)
test.drop(columns=TARGETS, errors="ignore").to_csv("input/test.csv", index=False)
test[[KEY]].assign(**{{name: {neutral} for name in COLUMNS}}).to_csv("input/sample_submission.csv", index=False)
for path in DATA.iterdir():
    if path.name not in {own!r}:
        Path("input", path.name).symlink_to(path.resolve())
'''

_LOST = """spelled = pd.{function}(read({file!r}){texts})
for name, words in {lost!r}.items():  # classes that pandas takes for missing
    train[name] = train[name].where(train[name].notna(), spelled[name].map(words))
"""

_NAMES = """names = pd.{function}(read({file!r}){texts})[{column!r}].astype(str)  # ids as they stand
places = range(len(test))
"""

_NUMBERS = """names, places = pd.Series(range(len(test))), range(len(test))
"""

_ORDER = """places = pd.Index(names).get_indexer(spelled[{column!r}])  # of the sample's rows in the test
if (places < 0).any():
    places = pd.Index(test[{source!r}]).get_indexer(sample[{column!r}])
assert (places >= 0).all(), "the sample's ids are not those of the test"
names = spelled[{column!r}]
"""

_WHOLE = """for name in TARGETS:  # classes 1.0 and 2.0 are 1 and 2
    if pd.api.types.is_float_dtype(train[name]) and (train[name] % 1 == 0).all():
        train[name] = train[name].astype("int64")
"""

_RUN = """subprocess.run([sys.executable, "solution.py"], check=True)
"""

_CHECK_LINKED = """made = pd.read_csv("submission/submission.csv")
assert list(made) == list(sample), f"columns {{list(made)}}, the sample has {{list(sample)}}"
assert set(made.iloc[:, 0]) == set(sample.iloc[:, 0]) and len(made) == len(sample), "its ids are not the sample's"
assert made.notna().all().all(), "values are missing"
made.to_csv("submission.csv", index=False)
made.head()
"""

_CHECK = """made = pd.read_csv("submission/submission.csv")
FORM = {form!r}  # columns of the file that is handed in, the program's, how they are made
assert sorted(made) == sorted([KEY, *COLUMNS]), f"columns {{list(made)}}, the program's are {{[KEY, *COLUMNS]}}"
made = made.set_index(KEY).loc[test[KEY]].reset_index().iloc[places].assign(**{{KEY: names.to_numpy()}})
made = made.reset_index(drop=True)
{spelling}made = pd.DataFrame({{theirs: {other}{kept}made[ours] for theirs, ours, how in FORM}})
assert made.notna().all().all() and len(made) == len(test), "values are missing"
{check}made.to_csv("submission.csv", index=False)
made.head()
"""

_SPELLING = """for name, words in {words!r}.items():  # classes as they stand in the table
    known = [str(int(v)) if isinstance(v, float) and v.is_integer() else str(v) for v in made[name]]
    made[name] = [words.get(word, word) for word in known]
"""

_SAMPLE = """sample = pd.{function}(read({file!r}){how})
spelled = pd.{function}(read({file!r}){texts}).astype(str)
"""

_IDS = """assert list(made[{column!r}]) == list(spelled[{column!r}]), "its ids are not the sample's"
"""

_SAME = """assert list(made) == list(sample), f"columns {{list(made)}}, the sample has {{list(sample)}}"
{ids}"""

_UNLIKE = """print({told!r})
"""


def write_notebook(node: Node, target: Path, message: str, source: Source, prepared: Prepared) -> None:
    """Write the notebook. ConfigError where its cells could not make the program's input from the user's files."""
    data = f"/kaggle/input/{source.name}"
    first, last = _own(source, prepared) if source.request["kind"] == "own" else (_LINK, _CHECK_LINKED)
    cells = [
        _cell("markdown", _HEAD.format(title=source.name, message=message)),
        _cell("code", _FIND.format(data=data) + first),
        _cell("code", f"%%writefile solution.py\n{node.code}"),
        _cell("code", _RUN),
        _cell("code", last),
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    page = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}
    target.write_text(json.dumps(page, indent=1) + "\n", encoding="utf-8")


def _own(source: Source, prepared: Prepared) -> tuple[str, str]:
    """The cells that make `input/` from the user's tables, and that give his rows their names back."""
    if source.request.get("sorted"):
        raise ConfigError("export-best --notebook: the labels are names of folders; the notebook reads tables")
    try:
        ways = run_trusted(python_command(LAUNCH, "prepare"), {**source.request, "verb": "ways"}, timeout=600)
    except GradingFault as error:
        raise SwarmEvoError(f"export-best --notebook: {error}") from error
    if "config_error" in ways:
        raise ConfigError(ways["config_error"])
    if "test" not in ways:
        raise ConfigError("export-best --notebook: the data have no table to predict (data.test)")
    meta = prepared.meta
    own = json.loads((prepared.folder / "private" / "user_rows.json").read_text(encoding="utf-8"))
    tables = {name: {**way, "how": _words(way["how"]), "texts": _words(way["texts"])} for name, way in
              ways.items() if name != "targets"}  # fmt: skip
    classes = meta.get("task") == "classes"
    sample: dict[str, Any] | None = tables.get("sample")
    first = _TABLES.format(
        key=meta["id"], targets=ways["targets"], columns=meta["targets"], lost=_lost(own, tables["train"]),
        sample=_SAMPLE.format(**sample) if sample else "", names=_names(own, tables),
        neutral="1 / len(COLUMNS)" if classes else "train[name].mode()[0]", whole=_WHOLE if classes else "",
        own=[table["file"] for table in tables.values()], **{n: tables[n] for n in ("train", "test")},
    )  # fmt: skip
    return first, _last(own, sample=sample is not None)


def _last(own: dict[str, Any], *, sample: bool) -> str:
    """The cell that brings what the program wrote into the user's form, and checks it."""
    ids = _IDS.format(column=own["column"]) if own["by_sample"] else ""
    check = _UNLIKE.format(told=own["unlike"]) if own["unlike"] else _SAME.format(ids=ids)
    ways = {how for *_, how in own["columns"]}
    words = {name: found for name, found in own["words"].items() if found}
    return _CHECK.format(
        form=[tuple(column) for column in own["columns"]], check=check if sample else "",
        spelling=_SPELLING.format(words=words) if words else "",
        other='1 - made[ours] if how == "other" else ' if "other" in ways else "",
        kept='spelled[theirs] if how == "kept" else ' if "kept" in ways else "",
    )  # fmt: skip


def _lost(own: dict[str, Any], train: dict[str, Any]) -> str:
    """Lines that give back the labels that pandas takes for missing."""
    lost = {name: found for name, found in own["lost"].items() if found}
    return _LOST.format(lost=lost, **train) if lost else ""


def _names(own: dict[str, Any], tables: dict[str, Any]) -> str:
    """Lines that give the user's rows their names, in the order in which they are handed in."""
    if not own["table"]:
        return _NUMBERS
    lines = _NAMES.format(column=own["source"], **tables[own["table"]])
    by_sample = own["by_sample"] and own["table"] == "test"
    return lines + (_ORDER.format(column=own["column"], source=own["source"]) if by_sample else "")


def _words(how: dict[str, Any]) -> str:
    """Arguments of a call, after the first."""
    return "".join(f", {name}={value!r}" for name, value in how.items())


def _cell(kind: str, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": text.rstrip("\n")}
    return found | ({"execution_count": None, "outputs": []} if kind == "code" else {})
