"""What facts are told from: as many rows of a table as tell enough, read as programs read them."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .csv_text import csv_lines
from .exact import read_table
from .pieces import open_plain


@dataclass(frozen=True, slots=True)
class TableSample:
    """A table of `public/`.

    Args:
        rows: `pieces.looked_at` of them, spread over it.
        count: of all rows.
    """

    rows: Any
    count: int

    @property
    def share(self) -> float:
        """Part of the rows that was looked at."""
        return len(self.rows) / max(1, self.count)


def as_programs_read(rows: Any, count: int) -> TableSample:
    """Rows of a table that was written, as they come back from its file."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as text:
        text.writelines(csv_lines(rows))
        text.seek(0)
        return TableSample(read_table(text), count)


def samples_of(**tables: Path | None) -> dict[str, TableSample]:
    """Those of the named tables that are there."""
    found = {}
    for name, path in tables.items():
        if path is not None and path.is_file():
            table = open_plain(path)
            found[name] = TableSample(table.sample(), table.count)
    return found
