"""What of the user's own lies in the project folder: tables to learn from, programs with an evaluator.

A client names none of it by a path: it chooses among the folders that are found here.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from dashboard.server.schemas.control import Own, OwnFolder, OwnScript, OwnTable
from utils.regular_files import open_regular

TRAIN, TEST = "train.csv", "test.csv"
ROOT = Path(__file__).resolve().parents[2]
"""Where this program lies."""
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. -]{0,120}")
_MOST_FILES = 60
_PROGRAMS = ("initial_program", "init_program", "initial_prompt", "program", "initial", "solution")
"""Names that people give to the program, the likeliest first."""
_PASSED_OVER = frozenset({"logs", "workspaces", "node_modules", "dist", "build", "tests"})
_DEEPEST = 3
_MOST_FOLDERS = 4000
_HEAD_ROWS = 5
_HEAD_BYTES = 4 * 2**20
"""In which they stand: a line without an end is not read to it."""
_LOOK_BYTES = 2**16
"""By which the encoding is told."""
_WIDEST = 80
"""Characters of a cell that are shown."""


def own(project_dir: Path) -> Own:
    """Folders of tables and folders with an evaluator, by name. What this program is made of is not the user's."""
    found = Own(data=[], scripts=[])
    for folder, names in _folders(project_dir):
        name = folder.relative_to(project_dir).as_posix()
        if TRAIN in names and folder != project_dir:
            tables = [_table(folder / table) for table in (TRAIN, TEST) if table in names]
            found.data.append(OwnFolder(name=name, tables=tables, target=_target(tables)))
        script = _script(name, names)
        if script is not None:
            found.scripts.append(script)
    return found


def own_tables(project_dir: Path, name: str) -> Path | None:
    """The folder of tables of that name, or None where no such folder was found."""
    return next((project_dir / folder.name for folder in own(project_dir).data if folder.name == name), None)


def own_script(project_dir: Path, name: str) -> OwnScript | None:
    """The folder with an evaluator of that name, or None where no such folder was found."""
    return next((script for script in own(project_dir).scripts if script.name == name), None)


def _script(name: str, names: set[str]) -> OwnScript | None:
    """The folder where a Python file has `evaluat` in its name; `evaluator.py` is the first choice."""
    judges = sorted(file for file in names if file.endswith(".py") and "evaluat" in file)
    if not judges:
        return None
    evaluator = "evaluator.py" if "evaluator.py" in judges else judges[0]
    files = sorted(file for file in names if _FILE.fullmatch(file))[:_MOST_FILES]
    others = [file for file in files if file.endswith(".py") and file not in judges]
    named = [file for stem in _PROGRAMS for file in files if file.rsplit(".", 1)[0] == stem]
    program = named[0] if named else others[0] if len(others) == 1 else ""
    return OwnScript(name=name, files=files, program=program, evaluator=evaluator)


def columns_of(folder: Path) -> list[str]:
    return _table(folder / TRAIN).columns


def _folders(project_dir: Path) -> Iterator[tuple[Path, set[str]]]:
    """The project's folder and those below it with the names of their files, links left out."""
    walk = os.walk(project_dir)
    for place, folders, files in islice(walk, _MOST_FOLDERS):
        here = Path(place)
        deep = len(here.relative_to(project_dir).parts)
        folders[:] = sorted(
            name for name in folders
            if deep < _DEEPEST and not name.startswith((".", "_")) and name not in _PASSED_OVER
            and not (here / name / "pyvenv.cfg").exists() and not (here / name).is_symlink()
            and not _is_ours(here / name)
        )  # fmt: skip
        if here != ROOT:
            yield here, set(files)


def _is_ours(folder: Path) -> bool:
    """A package of this program, where the project's folder holds it."""
    return folder.parent == ROOT and (folder / "__init__.py").is_file()


def _table(path: Path) -> OwnTable:
    """The head of a table; what is no table, or no file, has no columns."""
    try:
        with open_regular(os.path.realpath(path)) as source:  # a pipe would be waited for
            head = source.read(_HEAD_BYTES)
        whole = head if len(head) < _HEAD_BYTES else head[: head.rfind(b"\n") + 1]
        text = _text(whole)
        header = text.partition("\n")[0]
        separator = max(",;\t|", key=header.count)
        rows = list(islice(csv.reader(io.StringIO(text, newline=""), delimiter=separator), _HEAD_ROWS + 1))
    except (OSError, UnicodeError, csv.Error):
        rows = []
    cut = [[cell[:_WIDEST] for cell in row] for row in rows]
    size = path.stat().st_size if path.is_file() else 0
    return OwnTable(name=path.name, bytes=size, columns=cut[0] if cut else [], head=cut[1:])


def _text(content: bytes) -> str:
    """The text, as a search would read it. UnicodeError for what is none."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        from problems.competition.grader.tables.text_look import encoding_of

        encoding = encoding_of(content[:_LOOK_BYTES])
        if encoding is None:
            raise
        return content.decode(encoding)


def _target(tables: list[OwnTable]) -> str:
    """The one column that the rows to predict do not have; without such rows the last one; '' where it is not clear."""
    columns = tables[0].columns
    if len(tables) == 1:
        return columns[-1] if columns else ""
    missing = [name for name in columns if name not in tables[1].columns]
    return missing[0] if len(missing) == 1 else ""
