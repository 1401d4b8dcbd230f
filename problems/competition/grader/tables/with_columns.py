"""Columns are set by name without `DataFrame.assign`, whose keywords a column called `self` cannot be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def with_columns(table: Any, columns: Mapping[str, Any]) -> Any:
    """The table with these columns: those of the same names are replaced, others come last."""
    made = table.copy(deep=False)
    for name, values in columns.items():
        made[name] = values
    return made
