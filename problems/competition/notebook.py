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


train = pd.{train[function]}(read({train[file]!r}){train[how]}).dropna(subset=TARGETS)
test = pd.{test[function]}(read({test[file]!r}){test[how]})
{sample}names = {names}
{whole}if KEY not in train:
    train.insert(0, KEY, range(len(train)))
    test.insert(0, KEY, range(len(train), len(train) + len(test)))
train.to_csv("input/train.csv", index=False)
test.drop(columns=TARGETS, errors="ignore").to_csv("input/test.csv", index=False)
test[[KEY]].assign(**{{name: {neutral} for name in COLUMNS}}).to_csv("input/sample_submission.csv", index=False)
for path in DATA.iterdir():
    if path.name not in {own!r}:
        Path("input", path.name).symlink_to(path.resolve())
'''

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
FORM = {form!r}  # column of the file that is handed in: the program's
assert sorted(made) == sorted(FORM.values()), f"columns {{list(made)}}, the {whose} has {{list(FORM)}}"
made = made.set_index(KEY).loc[test[KEY]].reset_index().assign(**{{KEY: names.to_numpy()}})
made = made[list(FORM.values())].set_axis(list(FORM), axis=1)
assert made.notna().all().all() and len(made) == len(test), "values are missing"
{check}made.to_csv("submission.csv", index=False)
made.head()
"""

_SAMPLE = """sample = pd.{function}(read({file!r}){how})
"""

_SAME = """assert list(made) == list(sample), f"columns {{list(made)}}, the sample has {{list(sample)}}"
assert set(made[{column!r}]) == set(sample[{column!r}]), "its ids are not the sample's"
"""

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
    tables = {name: {**way, "how": "".join(f", {k}={v!r}" for k, v in way["how"].items())} for name, way in
              ways.items() if name != "targets"}  # fmt: skip
    classes = meta.get("task") == "classes"
    sample: dict[str, Any] | None = tables.get("sample")
    reads = {"test": f"test[{own['source']!r}]", "sample": f"sample[{own['source']!r}]"}
    first = _TABLES.format(
        key=meta["id"], targets=ways["targets"], columns=meta["targets"],
        sample=_SAMPLE.format(**sample) if sample else "",
        names=reads.get(own["table"], "pd.Series(range(len(test)))"),
        neutral="1 / len(COLUMNS)" if classes else "train[name].mode()[0]", whole=_WHOLE if classes else "",
        own=[table["file"] for table in tables.values()], **{n: tables[n] for n in ("train", "test")},
    )  # fmt: skip
    check = _UNLIKE.format(told=own["unlike"]) if own["unlike"] else _SAME.format(column=own["column"])
    form = {theirs: ours for theirs, ours in own["columns"]}
    return first, _CHECK.format(form=form, whose="sample" if sample else "file", check=check if sample else "")


def _cell(kind: str, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": text.rstrip("\n")}
    return found | ({"execution_count": None, "outputs": []} if kind == "code" else {})
