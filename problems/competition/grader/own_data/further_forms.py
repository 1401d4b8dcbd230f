"""Further tables in forms that programs of `rules` do not read, written as CSV beside them: workbooks, Feather, Arrow's
batches, packed JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..tables.contents import read_any
from ..tables.csv_text import write_csv
from ..tables.exact import Unusable
from ..tables.formats import FEATHER, SHEETS, STREAM, is_json, look_at
from ..tables.sheets import read_sheets

ENDINGS = re.compile(r"\.(?:xlsx|xlsm|feather|arrow|arrows|(?:json|jsonl|ndjson)\.(?:gz|zip|bz2|xz))$", re.IGNORECASE)
MOST_BYTES = 1 << 28
"""Of a file, which is read whole."""
FEWEST = 2
"""Rows and columns of a sheet that is a table."""


def write_plain(public: Path) -> dict[str, list[str]]:
    """Name of such a file → names of the tables that were written of it at the top of the folder."""
    written = {}
    for path in sorted(public.iterdir()):
        if not (path.is_file() and ENDINGS.search(path.name)) or path.stat().st_size > MOST_BYTES:
            continue
        try:
            found = dict(_tables(path))
        except (Unusable, ValueError, OSError, LookupError, TypeError, ImportError):  # the user's file
            continue
        free = {name: table for name, table in found.items() if not (public / name).exists()}
        for name, table in free.items():
            write_csv(table, public / name)
        if free:
            written[path.name] = [*free]
    return written


def _tables(path: Path) -> Iterator[tuple[str, Any]]:
    """Names and tables of a file."""
    look, stem = look_at(path), ENDINGS.sub("", path.name)
    if look.suffix in SHEETS:
        sheets = {name: table for name, table in read_sheets(path, look).items() if min(table.shape) >= FEWEST}
        for name, table in sheets.items():
            bare = re.sub(r"\W+", "_", name)[:40]  # a sheet is called as its user likes
            yield (f"{stem}.csv" if len(sheets) == 1 else f"{stem}_{bare}.csv"), table
    elif look.suffix in (*FEATHER, STREAM) or (is_json(look) and look.packed):
        yield f"{stem}.csv", read_any(path)[0]
