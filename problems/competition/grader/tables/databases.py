"""Tables of a SQLite database: to learn from the one called `train`, else the only one; as further tables all."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from .exact import Unusable

BEGIN = b"SQLite format 3\0"
"""The first bytes of such a file."""
SHOWN = 5
ROWS = 100_000
"""That are written at once."""
MOST_LETTERS = 40
"""Of a table's name in that of a file."""
MOST_CELL = 1 << 24
"""Bytes of a cell: a column may be computed, and a line of a stranger's database make gigabytes of it."""


def read_database(path: Path, rows: int | None = None) -> tuple[Any, str]:
    """The table and what is told of it. The file is opened to be read, and nothing is written beside it.

    Raises:
        Unusable: it has several tables, none of them called `train`; rows lie in its write-ahead log; it is cut off.
    """
    with _opened(path) as database:
        names = _names(database)
        name = _chosen(path, names)
        limit = "" if rows is None else f" LIMIT {rows}"
        table = pd.read_sql_query(f"SELECT * FROM {_quoted(name)}{limit}", database)
    told = f"the table '{name[:40]}' of a database" + (f" with {len(names)} tables" if len(names) > 1 else "")
    left = next((other for other in names if other.casefold() == "test" and other != name), None)
    return table, told + (f", its table '{left}' is not read: save it as a file" if left else "")


def write_tables(path: Path, folder: Path, stem: str) -> list[Path]:
    """Write each table of a database as `STEM_TABLE.csv`, a lone one as `STEM.csv`, without columns of bytes; which.

    What else the file holds (rows that were deleted, for one) is in none of them.

    Raises:
        Unusable, sqlite3.Error, OSError, ValueError: it cannot be read.
    """
    made: list[Path] = []
    with _opened(path) as database:
        names = _names(database)
        for name in names:
            bare = re.sub(r"\W+", "_", name)[:MOST_LETTERS]  # a table is called as its author likes
            places = [folder / f"{stem}.csv"] if len(names) == 1 else []
            places += [folder / f"{stem}_{bare}.csv"]
            if (to := next((place for place in places if not place.exists()), None)) is None:
                continue
            made.append(to)
            kept: list[str] = []
            for number, piece in enumerate(
                pd.read_sql_query(f"SELECT * FROM {_quoted(name)}", database, chunksize=ROWS)
            ):
                kept = kept or [str(one) for one in piece if not _has_bytes(piece[one])]
                piece[kept].to_csv(to, index=False, mode="a" if number else "w", header=not number)
    return [to for to in made if to.exists()]


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    if (there := path.stat().st_size) < (whole := _size_told(path)):
        raise Unusable(f"data: '{path}' is cut off: {there:,} of {whole:,} bytes are there; fetch it again")
    log = path.with_name(f"{path.name}-wal")
    if log.is_file() and log.stat().st_size:
        raise Unusable(f"data: '{path}' has rows in '{log.name}' that are not in it yet: close what writes it")
    with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as database:
        database.execute("PRAGMA trusted_schema=OFF")
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_CELL)
        yield database


def _names(database: sqlite3.Connection) -> list[str]:
    told = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [name for (name,) in told if not name.startswith("sqlite_")]


def _has_bytes(cells: Any) -> bool:
    return any(isinstance(cell, bytes) for cell in cells)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _size_told(path: Path) -> int:
    """The bytes that the head of the file says it has; 0 where it does not say (`The Database File Format`, 1.3.7)."""
    with path.open("rb") as file:
        head = file.read(100)
    page = int.from_bytes(head[16:18], "big")
    says = head[24:28] == head[92:96]  # a version before 3.7 changed it since
    return (65_536 if page == 1 else page) * int.from_bytes(head[28:32], "big") if says else 0


def _chosen(path: Path, names: list[str]) -> str:
    found = [name for name in names if name.lower() == "train"] or names
    if len(found) == 1:
        return found[0]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    several = f"the tables {', '.join(names[:SHOWN])}{more}" if names else "no table"
    way = f"sqlite3 -header -csv {path.name} 'SELECT …' > train.csv"
    raise Unusable(f"data: '{path}' is a database with {several}: call one of them train, or write a CSV ({way})")
