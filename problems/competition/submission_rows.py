"""The cells of a submission as they stand, for what is handed in: pandas, which grades them, is not in this process."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path


def submission_rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a submission that was graded, by columns. What pandas passes over in silence is passed over: a mark
    of the encoding before the head, lines of blanks, however long a cell is."""
    csv.field_size_limit(sys.maxsize)
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = (row for row in csv.reader(file) if any(cell.strip() for cell in row))
        head = next(rows, [])
        for row in rows:
            yield dict(zip(head, row, strict=False))
