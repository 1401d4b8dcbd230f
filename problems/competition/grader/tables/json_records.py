"""The rows of a JSON file, in the forms that web services and pandas write: a list, a line each, columns, below a key.

Python's own parser reads it: that of pandas is wrong in the last digit (0.3 is 0.30000000000000004), takes numbers of a
column called `date` or `…_time` for dates, and no whole number beyond 64 bits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, Any

import pandas as pd

DEPTH = 3
"""Keys that may stand above the rows."""
FEWEST = 2
"""Rows that make a list one of records."""
SHOWN = 5
HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""How one begins that is written in two."""


def read_lines(file: IO[str], rows: int | None = None, *, as_written: bool = False) -> Any:
    """A table whose rows stand in a line each.

    Args:
        rows: only so many.
        as_written: texts of digits stay texts.

    Raises:
        ValueError: a line is none, and which.
    """
    found: list[Any] = []
    for number, line in enumerate(file, 1):
        if rows is not None and len(found) >= rows:
            break
        if line.strip():
            try:
                found.append(_loaded(line))
            except ValueError as error:
                raise ValueError(f"line {number} is no JSON: {error}") from error
    return _typed(_table(found)[0], as_written=as_written)


def read_records(file: IO[str], *, as_written: bool = False) -> tuple[Any, str]:
    """The table, and how its rows stand in the file: '' for a list of them and for columns.

    Args:
        as_written: texts of digits stay texts.

    Raises:
        ValueError: it is no JSON, or nobody can tell its rows.
    """
    value = _loaded(file.read())
    table, told = _table(value) if isinstance(value, list) else _of_object(value)
    return _typed(table, as_written=as_written), told


def _loaded(text: str) -> Any:
    """The value of a text. Half a character, as what cuts texts leaves it of an emoji, is none that a file can hold."""
    value = json.loads(text)
    return _whole(value) if HALF.search(text) else value


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", errors="surrogatepass").decode("utf-16", errors="replace")
    if isinstance(value, list):
        return [_whole(one) for one in value]
    if isinstance(value, dict):
        return {_whole(key): _whole(one) for key, one in value.items()}
    return value


def _table(rows: list[Any]) -> tuple[Any, str]:
    """The table of a list, and that its first row names the columns."""
    if any(not isinstance(row, (dict, list)) for row in rows):
        raise ValueError("it is a list of single values, not of rows")
    if len(kinds := {type(row) for row in rows}) > 1:
        raise ValueError(f"its rows are {' and '.join(sorted(kind.__name__ for kind in kinds))}: write them alike")
    if not (told := _told_head(rows)):
        return pd.DataFrame(rows), ""
    if any(len(row) > len(rows[0]) for row in rows):
        raise ValueError("a row is longer than the first, which names the columns")
    return pd.DataFrame(rows[1:], columns=_once_each(rows[0])), told


def _told_head(rows: list[Any]) -> str:
    """That the first of several lists names the columns: words, above something else than words."""
    head = rows[0] if len(rows) >= FEWEST and isinstance(rows[0], list) else []
    words = [name for name in head if isinstance(name, str) and name.strip() and not _is_number(name)]
    if not head or len(words) < len(head):
        return ""
    has_others = any(not isinstance(cell, str) or _is_number(cell) for row in rows[1:] for cell in row)
    return "its first row names the columns" if has_others else ""


def _once_each(names: list[Any]) -> list[Any]:
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"several columns are called {str(twice)[:40]!r}: rename all but one")
    return names


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _of_object(value: Any) -> tuple[Any, str]:
    """The table of an object: what pandas writes, the only list of records in it, or that called `train`; columns."""
    if not isinstance(value, dict):
        raise ValueError("it holds a single value, no rows")
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
        return pd.DataFrame(data, columns=_once_each(names)), "rows and names of columns apart"
    found = [] if isinstance(value.get("schema"), dict) else list(_lists(value, ()))
    if "schema" in value and isinstance(data, list):
        found = [(("data",), data)]
    named = [one for one in found if one[0][-1].casefold() == "train"] or found
    if len(named) == 1:
        return _table(named[0][1])[0], f"rows below the key '{'.'.join(named[0][0])}'"
    if _are_columns(value):
        return pd.DataFrame(value), ""
    if rows := _by_number(value):
        return pd.DataFrame(rows), "a key for each row"
    if found:
        keys = ", ".join(".".join(keys) for keys, _ in found[:SHOWN])
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        raise ValueError(f"there are rows below the keys {keys}{more}: call one of them train, or write a file of each")
    raise ValueError("no list of rows is in it, nor a list for each column")


def _are_columns(value: dict[str, Any]) -> bool:
    """True for as long a list for each column, or an object with the same keys."""
    if all(isinstance(cells, list) for cells in value.values()):
        return len(set(map(len, value.values()))) <= 1
    return all(isinstance(cells, dict) for cells in value.values()) and not _by_number(value)


def _by_number(value: dict[str, Any]) -> list[Any]:
    """The rows of `{"0": {…}, "1": {…}, …}`; [] for anything else, such as columns whose rows are counted."""
    counted = [str(place) for place in range(len(value))]
    rows = list(value.values())
    is_counted = list(value) == counted and all(isinstance(row, dict) for row in rows)
    return rows if is_counted and not all(name.isdigit() for row in rows for name in row) else []


def _lists(value: Any, keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    if isinstance(value, list) and len(value) >= FEWEST and all(isinstance(row, dict) for row in value):
        yield keys, value
    elif isinstance(value, dict) and len(keys) < DEPTH:
        for key, inner in value.items():
            yield from _lists(inner, (*keys, key))


def _typed(table: Any, *, as_written: bool) -> Any:
    """The table with those columns as numbers whose every cell is the text of one, as in a CSV."""
    if as_written:
        return table
    for name in table:
        is_text = pd.api.types.infer_dtype(table[name], skipna=True) == "string"
        if is_text and _numbers(table[name].head(SHOWN)) is not None:  # most texts are told at once by their first
            numbers = _numbers(table[name])
            table[name] = table[name] if numbers is None else numbers
    return table


def _numbers(cells: Any) -> Any:
    """The texts as numbers; None where one is none."""
    numbers = pd.to_numeric(cells, errors="coerce")
    return numbers if (numbers.isna() == cells.isna()).all() else None
