"""How wide output may be, and rows for where a table does not fit."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence


def edge() -> int | None:
    """Columns of the terminal, or those that COLUMNS says; None in a file or a pipe: neither has an edge to cut at."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said) > 0:
        return int(said)
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def row_lines(heads: Sequence[str], row: Sequence[str]) -> Iterator[str]:
    """A row as lines, its first cell above the others: nothing is cut, and what is empty is left out."""
    wide = max(map(len, heads[1:]), default=0)
    yield f"{heads[0]} {row[0] or '–'}".strip()
    for head, cell in zip(heads[1:], row[1:], strict=True):
        if cell and cell != "–":
            yield f"  {head:{wide}s}  {cell}"
