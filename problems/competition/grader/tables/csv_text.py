"""Tables as text, in the letters of `DataFrame.to_csv` and in a third of its time.

What a column says is written once for each different value: measures have few digits, and most columns few values.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

CELLS = 500_000
"""Cells of the lines that are held at once."""
_QUOTED = re.compile(r'[,"\r\n]')
"""What cells may hold that are written in quotes."""


def write_csv(table: Any, path: Path, *, more: bool = False) -> None:
    """Write a table, or add its rows to a file that has some.

    Args:
        table: its index is not written.
        more: the file begins with other rows of the same columns; if it is there.
    """
    head = not (more and path.exists())
    with path.open("a" if more else "w", encoding="utf-8", newline="") as file:
        file.writelines(csv_lines(table, head=head))


def csv_lines(table: Any, *, head: bool = True) -> Iterator[str]:
    """The text of a table, some lines at a time; without its index.

    Args:
        head: it begins with the names of columns.
    """
    if table.shape[1] < 2:  # a blank cell that is a line is quoted
        yield table.to_csv(index=False, header=head)
        return
    if head:
        yield table.iloc[:0].to_csv(index=False)
    columns = [_Cells(table.iloc[:, place]) for place in range(table.shape[1])]
    step = max(1, CELLS // len(columns))
    for start in range(0, len(table), step):
        rows = zip(*(cells.texts(start, start + step) for cells in columns), strict=True)
        yield "\n".join(map(",".join, rows)) + "\n"


class _Cells:
    """A column's cells as they stand in the file, commas between them and all."""

    def __init__(self, column: Any) -> None:
        if isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.is_string_dtype(column):
            column = column.astype(object)
        self._values, self._codes = column.to_numpy(), None
        self._words: Any = ()
        self._is_plain = _is_plain(column)
        if not self._is_plain:
            self._words = _of_objects(column) if column.dtype == object else _as_pandas_writes(column)
            return
        kind = self._values.dtype.kind
        exact = self._values.view("u8") if kind == "f" else self._values  # 0.0 is not -0.0
        codes, different = pd.factorize(exact)
        if len(different) > len(codes) / 2 and kind != "O":
            return
        texts = _written(different.view(self._values.dtype) if kind == "f" else different)
        self._codes = codes.astype(np.int32)
        self._words = np.array([*texts, ""], object)  # what is missing has the code -1

    def texts(self, start: int, end: int) -> list[str]:
        if self._codes is not None:
            return self._words[self._codes[start:end]].tolist()  # type: ignore[no-any-return]
        return _written(self._values[start:end]) if self._is_plain else list(self._words[start:end])


def _is_plain(column: Any) -> bool:
    """True for numbers and texts, of which there is one text for each value."""
    if column.dtype == object:
        return pd.api.types.infer_dtype(column, skipna=True) in ("string", "empty")
    plain = isinstance(column.dtype, np.dtype) and column.dtype.kind in "biu"
    return plain or column.dtype == np.float64  # shorter ones are written in fewer digits


def _written(values: Any) -> list[str]:
    """Each value in its letters, '' for none."""
    if values.dtype.kind == "f":
        return ["" if value != value else repr(value) for value in values.tolist()]
    if values.dtype.kind in "biu":
        return list(map(str, values.tolist()))
    return list(map(_quoted, values))


def _quoted(text: str) -> str:
    if not _QUOTED.search(text):
        return text
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([text, ""])
    return line.getvalue()[:-2]


def _of_objects(column: Any) -> list[str]:
    """Booleans beside missing ones, lists, texts beside numbers."""
    missing = column.isna().tolist()
    return ["" if none else _quoted(str(value)) for value, none in zip(column, missing, strict=True)]


def _as_pandas_writes(column: Any) -> list[str]:
    """Times, and numbers of other kinds: a line each."""
    lines = column.to_csv(index=False, header=False).split("\n")[:-1]
    return ["" if line == '""' else line for line in lines]
