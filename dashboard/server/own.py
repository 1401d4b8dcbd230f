"""What of the user's own lies in the project folder: tables to learn from, programs with an evaluator.

A client names none of it by a path: it chooses among the folders that are found here.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from dashboard.server.schemas.control import Own, OwnFolder, OwnTable

TRAIN, TEST = "train.csv", "test.csv"
EVALUATOR = "evaluator.py"
_PASSED_OVER = frozenset({"logs", "workspaces", "node_modules", "dist", "build", "tests"})
_DEEPEST = 3
_MOST_FOLDERS = 4000
_HEAD_ROWS = 5
_WIDEST = 80
"""Characters of a cell that are shown."""


def own(project_dir: Path) -> Own:
    """Folders of tables and folders with an evaluator, by name."""
    found = Own(data=[], evaluators=[])
    for folder, names in _folders(project_dir):
        name = folder.relative_to(project_dir).as_posix()
        if TRAIN in names:
            tables = [_table(folder / table) for table in (TRAIN, TEST) if table in names]
            found.data.append(OwnFolder(name=name, tables=tables, target=_target(tables)))
        if EVALUATOR in names:
            found.evaluators.append(name)
    return found


def own_folder(project_dir: Path, name: str, holds: str) -> Path | None:
    """The folder of that name, or None where no such folder was found."""
    folders = (folder for folder, names in _folders(project_dir) if holds in names)
    return next((folder for folder in folders if folder.relative_to(project_dir).as_posix() == name), None)


def columns_of(folder: Path) -> list[str]:
    return _table(folder / TRAIN).columns


def _folders(project_dir: Path) -> Iterator[tuple[Path, set[str]]]:
    """Folders below the project's with the names of their files, links left out."""
    walk = os.walk(project_dir)
    for place, folders, files in islice(walk, _MOST_FOLDERS):
        here = Path(place)
        deep = len(here.relative_to(project_dir).parts)
        folders[:] = sorted(
            name for name in folders
            if deep < _DEEPEST and not name.startswith((".", "_")) and name not in _PASSED_OVER
            and not (here / name / "pyvenv.cfg").exists() and not (here / name).is_symlink()
        )  # fmt: skip
        if deep:
            yield here, set(files)


def _table(path: Path) -> OwnTable:
    """The head of a table; what is no table has no columns."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as source:
            header = source.readline()
            separator = max(",;\t", key=header.count)
            source.seek(0)
            rows = list(islice(csv.reader(source, delimiter=separator), _HEAD_ROWS + 1))
    except (OSError, UnicodeError, csv.Error):
        rows = []
    cut = [[cell[:_WIDEST] for cell in row] for row in rows]
    size = path.stat().st_size if path.is_file() else 0
    return OwnTable(name=path.name, bytes=size, columns=cut[0] if cut else [], head=cut[1:])


def _target(tables: list[OwnTable]) -> str:
    """The one column that the rows to predict do not have; without such rows the last one; '' where it is not clear."""
    columns = tables[0].columns
    if len(tables) == 1:
        return columns[-1] if columns else ""
    missing = [name for name in columns if name not in tables[1].columns]
    return missing[0] if len(missing) == 1 else ""
