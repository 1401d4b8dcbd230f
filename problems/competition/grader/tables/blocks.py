"""The blocks of memory that a table lies in: choosing rows and writing them takes as long as there are blocks."""

from __future__ import annotations

from typing import Any

MANY = 50
"""Columns from which on fewer blocks are worth a copy."""


def together(table: Any) -> Any:
    """The same with one block for each type of column, where `read_csv` leaves one for each of many columns."""
    return table.copy() if table.shape[1] > MANY else table
