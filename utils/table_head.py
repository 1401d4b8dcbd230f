"""The names in the head of a text table, read without the libraries that read tables: packed too."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO

LONGEST = 1 << 20
"""Bytes of a first line that are read."""
MARKS = ",;\t|"
"""What may stand between columns."""


def head_names(path: Path) -> set[str]:
    """What stands in the first line, between the marks that part it most; nothing of what cannot be read."""
    return {*head_row(path)}


def head_row(path: Path) -> list[str]:
    """The same in its order."""
    try:
        line = _first_line(path).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError):
        return []
    rows = (next(csv.reader([line], delimiter=mark), []) for mark in MARKS)
    return [cell.strip() for cell in max(rows, key=len)]


def _first_line(path: Path) -> bytes:
    """Of the file, or of the only one that it packs."""
    end = path.suffix.lower()
    if end == ".zip":
        return _first_in_zip(path)
    packed: dict[str, Callable[[Path], IO[bytes]]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}  # type: ignore[dict-item]
    with packed[end](path) if end in packed else path.open("rb") as file:
        return file.readline(LONGEST)


def _first_in_zip(path: Path) -> bytes:
    """b"" where it holds several, is locked, or packed in a way that is not known here."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        try:
            return archive.open(names[0]).readline(LONGEST) if len(names) == 1 else b""
        except (RuntimeError, NotImplementedError):
            return b""
