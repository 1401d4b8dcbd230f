"""A table of any length that is read in pieces: what is known of it is bounded, whatever its length is.

One pass finds the types of all columns and counts the rows; later passes read pieces of those types. So a column that
holds fractions in its last rows only is a column of fractions in every piece, as if the whole had been read at once.
Tables that are not text (Parquet, spreadsheets, JSON) are read whole: their readers know no pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .blocks import chosen, joined
from .cell_forms import CellForm, converted, form_of, may_have_form
from .columnar_files import kinds_of, rows_of_parquet, whole_pieces
from .contents import read_any, text_pieces
from .counts import counted
from .exact import refusals
from .formats import PARQUET, Look, is_text, look_at, sure_encoding
from .progress import EachSecond, Tell, nobody

ROWS, CELLS = 200_000, 20_000_000
"""Of a piece, at most: of a wide table it has fewer rows."""
WHOLE = 5
"""Pieces of a wide table that are held at once where they are all of it: reading them anew takes longer."""
FEWEST_LOOKED_AT = 5000
"""Rows that facts are told from, however wide a table is."""
HEAD = 2000
"""Rows that tell which columns of text may have a form."""


@dataclass(frozen=True, slots=True)
class Table:
    """A user's table.

    Args:
        path: where it lies.
        count: its rows.
        kinds: column → its type in every piece; None where pandas' own reading of any piece is that of the whole.
        look: how its text is written.
        whole: all of it, where it is short or cannot be read in pieces.
        forms: columns of text that are given as numbers, or as dates of one form.
        tell: is told how far it is read, where that takes long.
    """

    path: Path
    count: int
    kinds: dict[str, str | None]
    look: Look
    whole: Any = None
    forms: dict[str, CellForm] = field(default_factory=dict)
    tell: Tell = nobody

    @property
    def columns(self) -> list[str]:
        return list(self.kinds)

    def pieces(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """The rows in order, so many at a time; the index counts them from 0.

        Args:
            columns: only these.
        """
        wanted = self.columns if columns is None else list(columns)
        if self.whole is not None:
            step = rows_of(len(wanted))
            for start in range(0, max(self.count, 1), step):
                yield chosen(self.whole.iloc[start : start + step], wanted)
            return
        kinds = {name: kind for name in wanted if (kind := self.kinds[name])}
        how = {"usecols": wanted, "dtype": kinds}
        now = EachSecond(self.tell)
        with refusals(self.path):
            read = (
                whole_pieces(self.path, wanted, kinds, rows_of(len(wanted)))
                if self.look.suffix in PARQUET
                else text_pieces(self.path, self.look, rows_of(len(wanted)), how)
            )
            whole = counted(self.count, "row", form=",")
            for piece in _numbered(read):
                now(lambda rows=piece: f"{self.path.name} is read: {rows.index[-1] + 1:,} of {whole}")  # type: ignore[misc]
                yield converted(chosen(piece, wanted), self.forms)

    def find_forms(self, without: Callable[[str], bool], numbers: Collection[str]) -> dict[str, CellForm]:
        """The columns of text whose cells are all amounts of one form, or dates.

        Args:
            without: true for the names of columns that stay as they are.
            numbers: those that can hold nothing else.
        """
        names = [name for name in self.columns if not without(name)]
        head = next(self.pieces(names)).iloc[:HEAD]

        def form(name: str, pieces: Callable[[], Iterable[Any]]) -> CellForm | None:
            return form_of(pieces, is_numbers=name in numbers, decimal=self.look.decimal)

        texts = [name for name in names if is_text_column(head[name]) and may_have_form(head[name])]
        found = {name: form(name, lambda name=name: (piece[name] for piece in self.pieces([name]))) for name in texts}  # type: ignore[misc]
        return {name: form for name, form in found.items() if form is not None}

    def with_forms(self, forms: dict[str, CellForm]) -> Table:
        """The table with those columns as numbers and dates."""
        whole = None if self.whole is None else converted(self.whole, forms)
        return replace(self, whole=whole, forms=forms)

    def read(self, columns: Sequence[str]) -> Any:
        """These columns of all rows."""
        if self.whole is None:
            return joined([*self.pieces(columns)])
        return self.whole[list(columns)].copy(deep=False)  # before pandas 3 it warns where columns of a part are set

    def sample(self) -> Any:
        """All columns of `looked_at` rows, spread over the table."""
        wanted = marked(spread(np.arange(self.count), looked_at(len(self.columns))), self.count)
        return joined([piece[wanted[piece.index]] for piece in self.pieces()])


def is_text_column(values: Any) -> bool:
    """True for a column of texts, also where numbers stand among them, as spreadsheets have it."""
    return bool(pd.api.types.is_string_dtype(values) or pd.api.types.is_object_dtype(values))


def rows_of(columns: int) -> int:
    """Rows of a piece of so many columns."""
    return max(1, min(ROWS, CELLS // max(1, columns)))


def looked_at(columns: int) -> int:
    """Rows that facts are told from, spread over the whole of a table."""
    return max(FEWEST_LOOKED_AT, rows_of(columns))


def spread(places: Any, most: int = ROWS) -> Any:
    """At most so many of these places, evenly spaced."""
    if len(places) <= most:
        return places
    return places[np.linspace(0, len(places) - 1, most).round().astype(int)]


def open_plain(path: Path) -> Table:
    """A table as programs read it: UTF-8 with commas."""
    table, _ = open_table(path, Look("", ".csv", "utf-8", width=len(pd.read_csv(path, nrows=0).columns)))
    return table


def marked(places: Any, count: int) -> Any:
    """A mask of so many rows."""
    mask = np.zeros(count, bool)
    mask[places] = True
    return mask


def open_table(path: Path, look: Look | None = None, tell: Tell = nobody) -> tuple[Table, str]:
    """The table in a file, in any format that `formats` knows, and what was unusual about it in a few words.

    Args:
        look: how it is written, where that is known.
        tell: is told how far it is read, where that takes long.

    Raises:
        Unusable: one line that names the file and what to do.
    """
    with refusals(path):
        look = look or look_at(path)
        now = EachSecond(tell)
        if (
            look.suffix in PARQUET
            and (kinds := kinds_of(path, look))
            and (count := rows_of_parquet(path)) > WHOLE * (rows_of(len(kinds)))
        ):
            return Table(path, count, kinds, look, tell=tell), look.told()
        if not is_text(look):
            whole, told = read_any(path)
            return _short(path, look, whole), told
        look = sure_encoding(path, look)
        first, count = pd.DataFrame(), 0
        seen: dict[str, set[str]] = {}
        for piece in _numbered(text_pieces(path, look, min(ROWS, WHOLE * rows_of(look.width)), {})):
            first = first if seen else piece
            for name in piece.columns:
                seen.setdefault(name, set()).add(_kind(piece[name]))
            count += len(piece)
            now(lambda rows=count: f"{path.name} is read: {counted(rows, 'row', form=',')}")  # type: ignore[misc]
    if count == len(first):
        return _short(path, look, first), look.told()
    return Table(path, count, {name: _common(kinds) for name, kinds in seen.items()}, look, tell=tell), look.told()


def _short(path: Path, look: Look, whole: Any) -> Table:
    return Table(path, len(whole), dict.fromkeys(map(str, whole.columns)), look, whole.reset_index(drop=True))


def _numbered(pieces: Iterator[Any]) -> Iterator[Any]:
    start = 0
    for piece in pieces:
        piece.columns = [str(name) for name in piece.columns]
        piece.index = pd.RangeIndex(start, start + len(piece))
        start += len(piece)
        yield piece


def _kind(values: Any) -> str:
    """What a piece of a column holds: `empty`, `whole`, `fraction`, `truth` or `text`."""
    if not values.notna().any():
        return "empty"
    if pd.api.types.is_bool_dtype(values):
        return "truth"
    if pd.api.types.is_integer_dtype(values):
        return "whole"
    if pd.api.types.is_float_dtype(values):
        return "fraction"
    return "truth" if values.dtype == object and set(map(type, values.dropna())) == {bool} else "text"


def _common(kinds: set[str]) -> str | None:
    """The type that holds all pieces, as pandas chooses it for the whole."""
    held = kinds - {"empty"}
    if len(kinds) == 1:
        return "str" if kinds == {"text"} else None
    if held <= {"whole", "fraction"}:
        return "float64"
    return "boolean" if held == {"truth"} else "str"
