"""The first sheet of a spreadsheet, from the row that names its columns."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pandas as pd

from .text_look import LINES, head_row, told_above


def read_sheet(path: Path, rows: int | None, how: dict[str, Any] | None = None) -> tuple[Any, str]:
    """The table and what is told of it. ImportError: what reads spreadsheets is not installed.

    Args:
        how: what `pandas.read_excel` is told besides.
    """
    importlib.import_module("openpyxl")
    with pd.ExcelFile(path) as book:
        names, above = book.sheet_names, _above(book)
        table = pd.read_excel(book, sheet_name=names[0], nrows=rows, skiprows=above, **(how or {}))
    more = f", its sheet '{names[0]}' of {len(names)}" if len(names) > 1 else ""
    more += f", {told_above(above)}" if above else ""
    return table, f"a spreadsheet{more}"


def head_of_sheet(path: Path) -> Any:
    """The row of names, as a table without any."""
    with pd.ExcelFile(path) as book:
        return pd.read_excel(book, header=None, nrows=1, skiprows=_above(book))


def above_in_sheet(path: Path) -> int:
    """Rows of words above the head."""
    with pd.ExcelFile(path) as book:
        return _above(book)


def _above(book: Any) -> int:
    rows = pd.read_excel(book, header=None, nrows=LINES, dtype=str).fillna("")
    return head_row(rows.to_numpy().tolist())
