"""A sheet of a spreadsheet, from the row that names its columns: the one called `train`, else the one of most cells."""

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
        names, at = book.sheet_names, _way(book)
        table = pd.read_excel(book, nrows=rows, **at, **(how or {}))
    rest = [name for name in map(str, names) if name.casefold() == "test" and name != at.get("sheet_name", names[0])]
    more = f", its sheet '{at.get('sheet_name', names[0])}' of {len(names)}" if len(names) > 1 else ""
    more += f", {told_above(at['skiprows'])}" if "skiprows" in at else ""
    more += f", its sheet '{rest[0]}' is not read: save it as a file" if rest else ""
    return table, f"a spreadsheet{more}"


def head_of_sheet(path: Path) -> Any:
    """The row of names, as a table without any."""
    with pd.ExcelFile(path) as book:
        return pd.read_excel(book, header=None, nrows=1, **_way(book))


def way_of_sheet(path: Path) -> dict[str, Any]:
    """What `pandas.read_excel` must be told to read the same: a sheet that is not the first, rows above the head."""
    with pd.ExcelFile(path) as book:
        return _way(book)


def _way(book: Any) -> dict[str, Any]:
    sheet = _chosen(book)
    rows = pd.read_excel(book, sheet_name=sheet, header=None, nrows=LINES, dtype=str).fillna("")
    above = head_row(rows.to_numpy().tolist())
    is_first = sheet == book.sheet_names[0]
    return ({} if is_first else {"sheet_name": sheet}) | ({"skiprows": above} if above else {})


def _chosen(book: Any) -> str:
    """The first sheet of a workbook is often about the others."""
    names = [str(name) for name in book.sheet_names]
    called = [name for name in names if name.casefold() == "train"]
    return called[0] if called else max(names, key=lambda name: _cells(book.book[name]) if len(names) > 1 else 0)


def _cells(sheet: Any) -> int:
    """As many as the file says, or counted where it does not; none of a sheet of charts."""
    if not hasattr(sheet, "calculate_dimension"):
        return 0
    if not (sheet.max_row and sheet.max_column):
        sheet.calculate_dimension(force=True)
    return int((sheet.max_row or 0) * (sheet.max_column or 0))
