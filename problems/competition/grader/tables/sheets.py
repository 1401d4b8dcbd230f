"""A sheet of a spreadsheet, from the row that names its columns: the one called `train`, else the one of most cells.

Rows without anything in them, and columns that have no name either, are no part of it: people leave them around tables.
"""

from __future__ import annotations

import importlib
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .exact import Unusable
from .formats import Look, opened
from .missing_words import TO_PANDAS
from .text_look import LINES, head_row, told_above

SHOWN = 5


def read_sheet(path: Path, look: Look, rows: int | None, how: dict[str, Any] | None = None) -> tuple[Any, str]:
    """The table and what is told of it. ImportError: what reads spreadsheets is not installed.

    Args:
        how: what `pandas.read_excel` is told besides.
    """
    with _opened(path, look) as (book, content):
        names, at = book.sheet_names, _way(book, path)
        table = pd.read_excel(book, nrows=rows, **at, **(how or {}))
        name = at.get("sheet_name", names[0])
        lost = _never_computed(content, name, at.get("skiprows", 0), table)
    rest = [other for other in map(str, names) if other.casefold() == "test" and other != name]
    told = ["a spreadsheet"]
    told += [f"its sheet '{name}' of {len(names)}"] if len(names) > 1 else []
    told += [told_above(at["skiprows"])] if "skiprows" in at else []
    told += [f"its sheet '{rest[0]}' is not read: save it as a file"] if rest else []
    told += [f"formulas without values in {', '.join(lost[:SHOWN])}: a spreadsheet program saves them"] if lost else []
    return _there(table), ", ".join(told)


def read_sheets(path: Path, look: Look) -> dict[str, Any]:
    """The tables of all sheets that are not hidden and hold something, by their names."""
    with _opened(path, look) as (book, _):
        seen = [sheet.title for sheet in book.book.worksheets if sheet.sheet_state == "visible"]
        filled = [name for name in seen if any(map(any, _cells(book, name)))]
        return {name: _there(pd.read_excel(book, **_way(book, path, name))) for name in filled}


def head_of_sheet(path: Path, look: Look) -> Any:
    """The row of names, as a table without any."""
    with _opened(path, look) as (book, _):
        return pd.read_excel(book, header=None, nrows=1, **_way(book, path))


def first_rows(path: Path, look: Look) -> list[list[str]]:
    """The cells of the sheet's first rows, '' where they are empty."""
    with _opened(path, look) as (book, _):
        return _cells(book, _chosen(book, path))


def way_of_sheet(path: Path, look: Look) -> dict[str, Any]:
    """What `pandas.read_excel` must be told to read the same: a sheet that is not the first, rows above the head,
    columns that are no part of the table."""
    with _opened(path, look) as (book, _):
        way = _way(book, path)
        table = pd.read_excel(book, **way)
    there = _there(table)
    places = [place for place, name in enumerate(table) if name in there]
    return way | ({"usecols": places} if len(places) < table.shape[1] else {})


@contextmanager
def _opened(path: Path, look: Look) -> Iterator[tuple[Any, Any]]:
    """The workbook, and the file that it is read from."""
    importlib.import_module("openpyxl")
    with opened(path, look.packed) as file:
        content = io.BytesIO(file.read()) if look.packed else file
        with pd.ExcelFile(content, engine="openpyxl") as book:
            yield book, content


def _way(book: Any, path: Path, sheet: str = "") -> dict[str, Any]:
    sheet = sheet or _chosen(book, path)
    rows = _cells(book, sheet)
    begin = next((at for at, row in enumerate(rows) if any(row)), None)
    if begin is None:
        raise Unusable(f"data: '{path}': its sheet '{sheet}' holds nothing")
    columns = _columns_of_table(rows)
    above = begin + head_row([[row[place] for place in columns] for row in rows[begin:]])
    is_first = sheet == book.sheet_names[0]
    return ({} if is_first else {"sheet_name": sheet}) | ({"skiprows": above} if above else {})


def _columns_of_table(rows: list[list[str]]) -> list[int]:
    """The columns that rows of the usual width fill: a title beside the table fills others."""
    widths = Counter(sum(map(bool, row)) for row in rows if any(row))
    usual = [row for row in rows if sum(map(bool, row)) == widths.most_common(1)[0][0]]
    return [place for place in range(len(rows[0])) if any(row[place] for row in usual)]


def _cells(book: Any, sheet: str) -> list[list[str]]:
    rows = pd.read_excel(book, sheet_name=sheet, header=None, nrows=LINES, dtype=str).fillna("")
    return [[cell.strip() for cell in row] for row in rows.to_numpy().tolist()]


def _chosen(book: Any, path: Path) -> str:
    """The first sheet of a workbook is often about the others; one that is hidden is seldom what its user sees."""
    tables = list(book.book.worksheets)
    seen = [sheet for sheet in tables if sheet.sheet_state == "visible"] or tables
    if not tables:
        raise Unusable(f"data: '{path}' has no sheet with cells")
    called = [sheet.title for sheet in tables if sheet.title.casefold() == "train"]
    return str(called[0] if called else max(seen, key=lambda sheet: _size(sheet) if len(seen) > 1 else 0).title)


def _size(sheet: Any) -> int:
    """Cells: as many as the file says, or counted where it does not."""
    if not (sheet.max_row and sheet.max_column):
        sheet.calculate_dimension(force=True)
    return int((sheet.max_row or 0) * (sheet.max_column or 0))


def _there(table: Any) -> Any:
    """The rows that hold something, and the columns that have a name or hold something."""
    rows = np.arange(len(table))
    for name in table:
        rows = rows[_is_nothing(table[name].iloc[rows]).to_numpy()]
    table = table.drop(index=rows) if len(rows) else table
    nameless = [name for name in table if str(name).startswith("Unnamed: ")]
    return table.drop(columns=[name for name in nameless if _is_nothing(table[name]).all()])


def _is_nothing(values: Any) -> Any:
    """Cells that are empty, of blanks, or of what pandas takes for missing: alike however the sheet was read."""
    if values.dtype.kind in "biufmM":
        return values.isna()
    return values.isna() | values.astype(str).str.strip().isin(TO_PANDAS)


def _never_computed(content: Any, sheet: str, above: int, table: Any) -> list[str]:
    """Columns that hold nothing but formulas whose values the file lacks, as one that a program wrote does."""
    empty = {place: str(name) for place, name in enumerate(table) if len(table) and table[name].isna().all()}
    if not empty:
        return []
    openpyxl = importlib.import_module("openpyxl")
    content.seek(0)
    formulas = openpyxl.load_workbook(content, read_only=True)
    try:
        rows = formulas[sheet].iter_rows(min_row=above + 2, max_row=above + 1 + LINES, values_only=True)
        found = {place for row in rows for place, cell in enumerate(row) if str(cell or "").startswith("=")}
    finally:
        formulas.close()
    return [name for place, name in empty.items() if place in found]
