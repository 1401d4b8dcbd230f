"""The blocks of memory that a table lies in: choosing rows and writing them takes as long as there are blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

MANY = 50
"""Columns from which on fewer blocks are worth a copy."""


def joined(pieces: Sequence[Any]) -> Any:
    """Pieces of a table as one. Of a single one no copy is made."""
    return pieces[0] if len(pieces) == 1 else pd.concat(pieces)


def chosen(table: Any, columns: Sequence[str]) -> Any:
    """These columns of a table. Of all of them in their order no copy is made."""
    return table if list(table.columns) == list(columns) else table[list(columns)]


def together(table: Any) -> Any:
    """The same with one block for each type of column, where `read_csv` leaves one for each of many columns."""
    return table.copy() if table.shape[1] > MANY else table
