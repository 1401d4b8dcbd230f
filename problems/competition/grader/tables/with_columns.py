"""Columns set by name without `DataFrame.assign`, whose keywords a column called `self` cannot be; and many columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MANY = 50
"""Columns from which on a table is worth a copy."""


def with_columns(table: Any, columns: Mapping[str, Any]) -> Any:
    """The table with these columns: those of the same names are replaced, others come last."""
    made = table.copy(deep=False)
    for name, values in columns.items():
        made[name] = values
    return made


def together(table: Any) -> Any:
    """The same, for a table of many columns as one block of memory for each type, where `read_csv` leaves one for each
    column: choosing rows and writing them takes as long as there are blocks.
    """
    return table.copy() if table.shape[1] > MANY else table
