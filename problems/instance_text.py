"""Text of files of instances, packed or not, and the rows of their tables, whatever separates the columns."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any

from utils.archives import BROKEN
from utils.counts import counted
from utils.errors import ConfigError
from utils.user_path import user_path

_OPENED: dict[bytes, Callable[[Path], IO[bytes]]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}  # type: ignore[dict-item]
"""How packed files begin, whatever they are called."""
PACKED = (".gz", ".bz2", ".xz")
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")
_FORMS = {
    "whole": re.compile(r"\s*[+-]?\d+\s*"),
    "thousands": re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*"),
    "decimal": re.compile(r"\s*[+-]?\d*[.,]\d+\s*"),
}
TABLES = (".csv", ".tsv", ".tab")
NOT_UNPACKED = (".zip", ".tar", ".tgz", ".7z", ".rar", ".zst", ".z", ".lz4")
_WIDE = (b"\xff\xfe", b"\xfe\xff")
"""How text in UTF-16 begins."""


def instance_text(path: Path, errors: str = "strict") -> str:
    """The file's text. ValueError, OSError: it is packed in a way that is not unpacked here, or no text in UTF-8.

    Args:
        errors: what becomes of bytes that are no UTF-8: `replace` where they can only stand in a comment.
    """
    if path.name.lower().endswith(NOT_UNPACKED):
        raise ValueError("it is an archive: unpack it first (.gz, .bz2 and .xz are read as they are)")
    with path.open("rb") as file:
        head = file.read(5)
    opened = next((way for mark, way in _OPENED.items() if head.startswith(mark)), None)
    try:
        with opened(path) if opened else path.open("rb") as file:
            content = file.read()
    except BROKEN as error:
        if isinstance(error, OSError) and error.strerror:
            raise
        raise ValueError(f"it is packed and cut off, or broken: {error}") from error
    return content.decode("utf-16" if content.startswith(_WIDE) else "utf-8-sig", errors)


def instance_json(path: Path) -> Any:
    """What a JSON file holds. ValueError: what is none, and a key that stands twice, of which one would be lost."""
    try:
        return json.loads(instance_text(path), object_pairs_hook=_once)
    except RecursionError as error:
        raise ValueError("its lists and objects lie too deep in each other") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(n for n in names if names.count(n) > 1)[:40]!r} stands twice")
    return found


def check_keys(one: dict[str, Any], allowed: Sequence[str], name: str) -> None:
    """ValueError for a key of an instance in JSON that nobody would read."""
    if unknown := next((key for key in one if key not in allowed), None):
        raise ValueError(f"{name}: unknown key {unknown[:40]!r}; allowed: {', '.join(allowed)}")


_PROSE = ("readme", "license", "licence", "copying", "copyright", "notice", "changelog", "citation")


def instance_suffix(path: Path) -> str:
    """What the file is by its name, without its packing: `.csv` for `a.CSV.gz`."""
    bare = path.with_suffix("") if path.suffix.lower() in PACKED else path
    return bare.suffix.lower()


def instance_stem(path: Path) -> str:
    """Its name without what tells the form: `a` for `a.csv.gz`."""
    return path.with_suffix("").stem if path.suffix.lower() in PACKED else path.stem


def instances_title(name: str) -> str:
    """What a file or folder of instances is called: a folder by its name, also where it is the current one."""
    path = Path(os.path.abspath(user_path(name)))
    return path.name if os.path.isdir(path) else instance_stem(path)


def instance_files(folder: Path, suffixes: Sequence[str]) -> list[Path]:
    """The files of a folder that may hold instances, by name; what people lay beside them for people does not.

    ConfigError: one of them is a link that leads nowhere.
    """
    named = [path for path in sorted(folder.iterdir())
             if not path.name.startswith(".") and instance_suffix(path) in suffixes
             and instance_stem(path).lower() not in _PROSE]  # fmt: skip
    if lost := next((path for path in named if path.is_symlink() and not path.exists()), None):
        raise ConfigError(f"'{lost}': a link that leads nowhere")
    return [path for path in named if path.is_file()]


def files_of_instances(name: str, suffixes: Sequence[str]) -> dict[str, Path]:
    """The user's file, or the files of his folder, as `Problem.scoring_files` tells them."""
    path = user_path(name)
    if not path.is_dir():
        return {"problem.name": path}
    return {f"instances/{file.name}": file for file in instance_files(path, suffixes)}


def table_rows(path: Path) -> Iterator[tuple[list[str], str]]:
    """The rows of a table that are not empty, and where each stands: `line 4`.

    Columns are separated by what the first line has of `;`, tabs and `|`, else by commas. Where it is no comma, `2,5`
    is 2.5. ValueError: the line that cannot be read, or a number that may be another: `1,050` in a column whose
    numbers are whole otherwise.
    """
    lines = instance_text(path).splitlines(keepends=True)
    head = next((line for line in lines if line.strip()), "")
    mark = next((mark for mark in ";\t|" if mark in head), ",")  # beside one of these a comma is a decimal one
    if re.fullmatch(r"sep=[;\t|,]\s*", head):  # a line for spreadsheets
        lines[lines.index(head)] = "\n"
    reader = csv.reader(lines, delimiter=mark)
    rows: list[tuple[list[str], str]] = []
    try:
        rows += [(row, f"line {reader.line_num}") for row in reader if any(map(str.strip, row))]
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error
    if mark != ",":
        _check_thousands(rows)
        rows = [([_point(cell) for cell in row], place) for row, place in rows]
    yield from rows


def _check_thousands(rows: Sequence[tuple[list[str], str]]) -> None:
    """ValueError for a comma that may part thousands: a decimal one would make the number a thousandth."""
    for column in zip_longest(*(row for row, _ in rows), fillvalue=""):
        forms = [next((form for form, known in _FORMS.items() if known.fullmatch(cell)), "") for cell in column]
        if "thousands" in forms and "whole" in forms and "decimal" not in forms:
            at = forms.index("thousands")
            said = column[at].strip()[:40]
            without = said.replace(",", "")
            raise ValueError(f"{rows[at][1]}: {said} may be {without} or {_point(said)}: write it without a comma")


def column_names(head: Sequence[str]) -> list[str]:
    """The names of a table's columns, in lower case. ValueError for one that stands twice."""
    names = [name.strip().lower() for name in head]
    if twice := next((name for name in names if name and names.count(name) > 1), None):
        raise ValueError(f"the column {twice[:40]} stands twice")
    return names


def check_columns(names: Sequence[str], allowed: Sequence[str], labels: Sequence[str] = ()) -> str:
    """The column that says what each row is called, '' without one.

    ValueError for a column of a table of instances that nobody would read; one without a name may stand there.

    Args:
        labels: how such a column may be called.
    """
    label = next((name for name in names if name in labels), "")
    if unknown := next((name for name in names if name and name not in (*allowed, label)), None):
        raise ValueError(f"unknown column {unknown[:40]!r}; allowed: {', '.join((*allowed, *labels))}")
    return label


class Labels:
    """What the rows of a table are called: twice the same within an instance is a row that stands there twice."""

    def __init__(self, column: str) -> None:
        self._column, self._seen = column, dict[tuple[str, str], str]()

    def add(self, instance: str, cells: Mapping[str, str], place: str) -> None:
        """ValueError: that row stands there already."""
        name = cells.get(self._column, "").strip() if self._column else ""
        if name and (known := self._seen.setdefault((instance, name), place)) != place:
            raise ValueError(f"{place}: {self._column} {name[:40]} stands in {known} already")


def cells_of(names: Sequence[str], row: Sequence[str], place: str) -> dict[str, str]:
    """A row by its columns; the last may be left out. ValueError for more cells than columns, and for a row that says
    of no instance that it belongs to it, where there is such a column: it would be of one of its own."""
    if any(cell.strip() for cell in row[len(names) :]):
        raise ValueError(f"{place}: {counted(len(row), 'cell')}, but {counted(len(names), 'column')} ({listed(names)})")
    cells = dict(zip(names, row, strict=False))
    if "instance" in names and any(cell.strip() for cell in row) and not cells.get("instance", "").strip():
        raise ValueError(f"{place}: no instance is named; each row of the table names its own")
    return cells


def _point(cell: str) -> str:
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell


def listed(names: Sequence[Any]) -> str:
    """The columns that a table has, in a line."""
    return ", ".join(str(name)[:40] for name in names[:8])
