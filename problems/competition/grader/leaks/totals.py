"""A last row that is no case: the totals of a spreadsheet, below the rows that they are of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from ..own_data.own_tables import OwnTables
from ..tables.columns import listed

WORDS = {
    "total", "totals", "totale", "totales", "totaal", "sum", "sums", "summe", "summen", "gesamt", "gesamtsumme",
    "insgesamt", "endsumme", "somme", "ensemble", "suma", "soma", "somma", "итого", "всего", "razem", "toplam",
    "合计", "总计", "合計", "総計", "합계", "총계",
}  # fmt: skip
"""What such a row is called."""
MOST_WORDS = 3
"""Of its name."""
NEAR = 1e-3
"""Its cells are the sums but for this part of them: both are rounded."""
FEWEST_ROWS = 10
FEWEST_SUMS = 2
"""Columns that are sums, where the row is not called so."""


def row_of_totals(tables: OwnTables) -> Iterator[str]:
    """A line where the last labelled row is the table's totals: nothing is left out without being asked.

    A table that is too long to be held is read once more only where the target of its last row is a sum, too.
    """
    last = tables.train.count - 1
    if last < FEWEST_ROWS or tables.labelled.index[-1] != last:
        return
    if tables.train.whole is None and not any(_is_sum(tables.labelled[name]) for name in tables.targets):
        return
    rows = tables.train.read(tables.train.columns)
    sums = [name for name in rows if _is_sum(rows[name])]
    called = next((text for value in rows.iloc[-1] if _is_called_so(text := str(value).strip())), "")
    if sums and (called or len(sums) >= FEWEST_SUMS):
        name = tables.files["train"].name
        what = f"is called {called[:40]!r} and " if called else ""
        yield (
            f"the last row of {name} {what}holds the sums of {listed(sums)}: it counts as a row like the others; "
            f"delete it if it is their total"
        )


def _is_sum(values: Any) -> bool:
    """True if the last number is the sum of those above it."""
    if not pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values) or pd.isna(values.iloc[-1]):
        return False
    above, last = values.iloc[:-1].dropna().astype(float), float(values.iloc[-1])
    if (above != 0).sum() < FEWEST_ROWS or not np.isfinite(above.sum()):
        return False
    return abs(above.sum() - last) <= NEAR * abs(last) and last != 0


def _is_called_so(text: str) -> bool:
    words = re.findall(r"[^\W\d_]+", text.casefold())
    return 0 < len(words) <= MOST_WORDS and not WORDS.isdisjoint(words)
