"""What of the user's folder goes along to a program: everything that cannot tell a hidden label.

The tables that were read are written anew; a further table is left out if it has the target's column, and so is a file
that may be a table but cannot be looked into. What is left out is told.
"""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .formats import COLUMNAR, LINED_JSON, SHEETS, read_any
from .tables import Unusable

TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".json", *LINED_JSON)
OPAQUE = (
    ".pkl", ".pickle", ".joblib", ".db", ".sqlite", ".sqlite3", ".duckdb", ".h5", ".hdf5", ".hdf", ".rds", ".rdata",
    ".sav", ".dta", ".sas7bdat", ".mat", ".orc", ".avro", ".arrow", ".xls", ".xlsb", ".ods", ".7z", ".rar", ".zst",
)  # fmt: skip
"""Tables and archives that are not opened here."""
PACKED = (".gz", ".bz2", ".xz")
NEEDLE_BYTES = 1 << 22
"""Bytes of a text that are searched for the target's name where it is no table of columns."""


def copy_rest(folder: Path, public: Path, targets: list[str], barred: set[Path]) -> list[str]:
    """Copy the folder to `public`; hidden files and `barred` (by whatever link) stay behind. Returns the names of those
    that are left out for their labels."""
    left: list[str] = []
    known = {path.resolve() for path in barred}

    def ignore(place: str, names: list[str]) -> set[str]:
        skipped = {name for name in names if name.startswith(".") or Path(place, name).resolve() in known}
        for name in sorted(set(names) - skipped):
            path = Path(place, name)
            if targets and path.is_file() and may_tell(path, targets):
                left.append(str(path.relative_to(folder)))
                skipped.add(name)
        return skipped

    try:
        shutil.copytree(folder, public, ignore=ignore, ignore_dangling_symlinks=True, dirs_exist_ok=True)
    except OSError as error:
        raise Unusable(f"data.dir={folder}: cannot copy its files: {str(error)[:300]}") from error
    return left


def may_tell(path: Path, targets: list[str]) -> bool:
    """True if the file has a column of a target's name, or might and cannot be looked into."""
    name = path.name.lower()
    if name.endswith(OPAQUE):
        return True
    if name.endswith((".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")):
        return any(map(_is_table_inside, _members(path)))
    bare = next((name.removesuffix(end) for end in PACKED if name.endswith(end)), name)
    if not bare.endswith((*TEXT, *COLUMNAR, *SHEETS)) and bare == name:
        return False
    return _has_column(path, targets)


def _has_column(path: Path, targets: list[str]) -> bool:
    """A table by its columns. What is no table of columns (JSON in JSON, prose) by the quoted name in its text."""
    if path.suffix.lower() == ".json":
        with path.open("rb") as file:
            text = file.read(NEEDLE_BYTES).decode("utf-8", errors="replace")
        return any(f'"{target}"' in text for target in targets)
    try:
        table: Any = read_any(path, rows=5)[0]
    except Unusable:
        return not path.name.lower().endswith((".txt", ".dat", ".data"))
    return any(target in table.columns for target in targets)


def _members(path: Path) -> Iterator[str]:
    try:
        if path.name.lower().endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                yield from archive.namelist()
        else:
            with tarfile.open(path) as tar:
                yield from tar.getnames()
    except (OSError, tarfile.TarError, zipfile.BadZipFile):
        yield "unknown.csv"


def _is_table_inside(inner: str) -> bool:
    """A table inside an archive is not opened: any may hold the labels."""
    name = inner.lower()
    bare = next((name.removesuffix(end) for end in PACKED if name.endswith(end)), name)
    return bare.endswith((".csv", ".tsv", ".tab", ".json", *LINED_JSON, *COLUMNAR, *SHEETS, *OPAQUE, ".zip", ".tar"))
