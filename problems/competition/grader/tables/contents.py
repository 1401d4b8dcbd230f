"""What a table's file holds, in any of the formats that `formats` recognises: its rows, one column of it, its head.

A plain UTF-8 table with commas is read as ever.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from .blocks import together
from .columnar_files import columns_twice, kinds_of, parquet_pieces, read_columns
from .databases import read_database
from .exact import EXACT, Unusable, refusals
from .formats import (
    COLUMNAR,
    DATABASES,
    LINED_JSON,
    LOOK,
    PARQUET,
    SHEETS,
    Look,
    is_json,
    is_text,
    look_at,
    opened,
    sure_encoding,
)
from .json_records import read_lines, read_records
from .keys import as_keys
from .nested_cells import flat
from .sheets import first_rows, head_of_sheet, read_sheet
from .text_look import CSV_WAYS, LINES, field_rows

_BEHIND = "\0behind "
"""No text of a table holds that character."""


def read_any(path: Path, rows: int | None = None, decimal: str = ".") -> tuple[Any, str]:
    """The table and what was unusual about it.

    Args:
        path: a file in any of these formats.
        rows: read only so many, to look at its columns.
        decimal: the mark of fractions in a text, where it tells none.

    Raises:
        Unusable: one line that names the file and what to do.
    """
    with refusals(path):
        table, told = _read(path, look_at(path, decimal), rows)
    table.columns = [str(name) for name in table.columns]
    table.index = pd.RangeIndex(len(table))  # pandas makes one of names of rows
    return table, told


def read_texts(path: Path, column: str) -> Any:
    """One column of a table as its cells stand (`007`, `1e7`, `None`), '' where a cell is empty.

    Where a table holds numbers themselves, a whole one has no point.
    """
    with refusals(path):
        table = _read_texts(path, look_at(path), column)
    table.columns = [str(name) for name in table.columns]
    return as_keys(table[column]).fillna("")


def doubled(path: Path) -> dict[str, int]:
    """Names that several columns of a table have, and how many: pandas calls the later ones `price.1` in silence."""
    with refusals(path):
        return _doubled(path, look_at(path))


def _doubled(path: Path, look: Look) -> dict[str, int]:
    if look.suffix in DATABASES or is_json(look):
        return {}
    if look.suffix in COLUMNAR:
        return columns_twice(path, look)
    counts = Counter(_head_cells(path, look).dropna().astype(str))
    return {name: count for name, count in counts.items() if count > 1}


def nameless(path: Path) -> list[str]:
    """What pandas calls the columns that a table's head leaves without a name."""
    with refusals(path):
        look = look_at(path)
        cells = _head_cells(path, look) if is_text(look) or look.suffix in SHEETS else pd.Series(dtype=object)
    return [f"Unnamed: {place}" for place, is_blank in enumerate(cells.isna()) if is_blank]


def _head_cells(path: Path, look: Look) -> Any:
    """The first row of a text table or a sheet as it stands."""
    if look.suffix in SHEETS:
        return head_of_sheet(path, look).iloc[0]
    with opened(path, look.packed) as file:
        head = pd.read_csv(file, encoding=look.encoding, encoding_errors="replace", sep=look.sep, header=None,
                           nrows=1, dtype=str, skiprows=look.above, **CSV_WAYS[look.quoted])  # fmt: skip
    return head.iloc[0]


def line_of_head(path: Path, column: str) -> int:
    """The number of the first line that has the column's name among its fields, from 1; 0 where none has."""
    look = look_at(path)
    if look.suffix in SHEETS:
        rows = first_rows(path, look)
    elif is_text(look):
        with opened(path, look.packed) as file:
            lines = file.read(LOOK).decode(look.encoding, errors="replace").splitlines()[:LINES]
        rows = [next(iter(field_rows([line], look.mark)), []) for line in lines]
    else:
        return 0
    return next((at for at, row in enumerate(rows, 1) if column in [name.strip() for name in row]), 0)


def text_pieces(path: Path, look: Look, rows: int, how: dict[str, Any]) -> Iterator[Any]:
    """A text table, so many rows at a time.

    Args:
        look: with an encoding that reads the whole file.
        how: what `pandas.read_csv` is told beside the look of the file.
    """
    ways = _ways(look, path)
    with opened(path, look.packed) as file, pd.read_csv(file, chunksize=rows, **ways, **how) as reader:
        for piece in reader:
            yield together(_named(piece, look, path))


def _read(path: Path, look: Look, rows: int | None) -> tuple[Any, str]:
    if look.suffix in SHEETS:
        table, told = read_sheet(path, look, rows)
    elif look.suffix in DATABASES:
        table, told = read_database(path, rows)
    elif look.suffix in COLUMNAR:
        table, told = read_columns(path, look), look.told()
    elif is_json(look):
        table, form = _read_json(path, look, rows)
        told = ", ".join(filter(None, [look.told(), form]))
    else:
        return _text(path, look, rows)
    return flat(table if rows is None else table.head(rows), told)


def _read_texts(path: Path, look: Look, column: str) -> Any:
    """A table with that column, and maybe others."""
    how: dict[str, Any] = {"dtype": str, "keep_default_na": False}
    if look.suffix in SHEETS:
        return read_sheet(path, look, None, how)[0]
    if look.suffix in PARQUET and kinds_of(path, look):
        pieces = [piece.to_pandas(ignore_metadata=True) for piece in parquet_pieces(path, [column])]
        return pd.concat(pieces, ignore_index=True)
    if look.suffix in (*COLUMNAR, *DATABASES):
        return _read(path, look, None)[0]
    if is_json(look):
        return flat(_read_json(path, look, as_written=True)[0], "")[0]
    return _text(path, look, None, {**how, "usecols": [column]})[0]


def _read_json(path: Path, look: Look, rows: int | None = None, *, as_written: bool = False) -> tuple[Any, str]:
    """The table, and how its rows stand in the file."""
    look = sure_encoding(path, look)
    with (
        opened(path, look.packed) as file,
        io.TextIOWrapper(file, encoding=look.encoding, errors=look.errors) as text,
    ):
        if look.suffix in LINED_JSON:
            return read_lines(text, rows, as_written=as_written), ""
        return read_records(text, as_written=as_written)


def _text(path: Path, look: Look, rows: int | None, how: dict[str, Any] | None = None) -> tuple[Any, str]:
    """A text table."""
    look = sure_encoding(path, look)
    with opened(path, look.packed) as file:
        table = pd.read_csv(file, nrows=rows, **_ways(look, path), **(how or {}))
    return together(_named(table, look, path)), look.told()


def _ways(look: Look, path: Path) -> dict[str, Any]:
    exact = {} if look.decimal == "," else EXACT
    how = {"encoding": look.encoding, "sep": look.sep, "decimal": look.decimal, "skiprows": look.above}
    how |= CSV_WAYS[look.quoted]
    how |= {} if look.errors == "strict" else {"encoding_errors": look.errors}
    return {**how, "low_memory": False, **exact, **({"header": 0, "names": _names(path, look)} if look.blank else {})}


def _names(path: Path, look: Look) -> list[str]:
    """The head's columns as pandas calls them, and one for each field behind them: else it would take the first fields
    for names of rows, or pass over what stands behind the last column and warn of it in words of its own."""
    plain = replace(look, blank=0)
    with opened(path, look.packed) as file:
        head = pd.read_csv(file, nrows=0, index_col=False, usecols=range(look.width), **_ways(plain, path))
    return [*map(str, head.columns), *(f"{_BEHIND}{number}" for number in range(look.blank))]


def _named(table: Any, look: Look, path: Path) -> Any:
    """The table without the fields behind its last column. Unusable where a row has something there."""
    behind = [name for name in table if str(name).startswith(_BEHIND)] if look.blank else []
    for name in behind:
        cells = table[name].dropna().astype(str).str.strip()
        if len(there := cells[cells != ""]):
            said = f"its row {there.index[0] + 1} goes on behind the last column that its head names"
            raise Unusable(f"data: '{path}': {said}: name each of them")
    return table.drop(columns=behind)
