"""Columns whose values name rows of two tables, whatever they are called and however each table writes them."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from functools import cached_property  # noqa: TID251 - one thread, and nothing of ours can be imported
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from .times import format_to_tell

HEAD = 20_000
"""Rows of a further table that tell what its columns may be."""
ALIKE = 0.99
"""Part of the values that are of a form."""
FEW = 20
"""Different numbers up to which columns of other names may agree by chance."""
OTHERWISE_CALLED = 0.8
"""Part of the rows that a key of another name must find in both tables."""
LONG = 60
"""Characters on average from which a column of several words each is text and no key."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A column of the competition's tables and one of a further table that hold the same names.

    Args:
        way: how both are made alike: `number`, `day`, `time` or `text`.
        mine_form, side_form: how dates are written, where pandas has to be told.
        same: True where both are called alike.
    """

    mine: str
    side: str
    way: str
    mine_form: str = ""
    side_form: str = ""
    same: bool = True

    def plain(self) -> dict[str, str]:
        return {
            "mine": self.mine,
            "side": self.side,
            "way": self.way,
            "mine_form": self.mine_form,
            "side_form": self.side_form,
        }

    @property
    def of_mine(self) -> tuple[str, str, str]:
        """A column, how it is made alike, and how its dates are written."""
        return self.mine, self.way, self.mine_form

    @property
    def of_side(self) -> tuple[str, str, str]:
        return self.side, self.way, self.side_form

    def must_cover(self, called_alike: float) -> float:
        """Part of the rows that it must find."""
        return called_alike if self.same else OTHERWISE_CALLED


@dataclass(slots=True)
class Shared:
    """The pairs of two tables, and which values of each the rows have.

    Args:
        values: for each pair the different values of the competition's rows.
        codes: for each pair their places among these, of the rows to learn from and to predict; -1 for none.
        seen: for each piece of the further table its rows' places, a column for each pair.
    """

    pairs: list[Pair]
    values: dict[Pair, Any] = field(default_factory=dict)
    codes: dict[Pair, tuple[Any, Any]] = field(default_factory=dict)
    seen: list[Any] = field(default_factory=list)

    def add(self, piece: Any) -> None:
        """Rows of the further table."""
        written = _Alike(piece)
        found = [self.values[pair].get_indexer(written.column(*pair.of_side)) for pair in self.pairs]
        places = np.column_stack(found).astype("int32")
        self.seen.append(places[(places >= 0).any(axis=1)])

    def found(self, pairs: tuple[Pair, ...]) -> tuple[tuple[Any, Any], float, int, int]:
        """Which rows of both tables a key of these pairs finds, its rows in the further table for each key, how many
        keys and how many rows are found."""
        there = self._numbers(
            [np.concatenate([some[:, self.pairs.index(pair)] for some in self.seen]) for pair in pairs], pairs
        )
        mine = [self._numbers([self.codes[pair][table] for pair in pairs], pairs) for table in (0, 1)]
        used = there[np.isin(there, np.concatenate(mine))]
        used = used[used >= 0]
        names = len(np.unique(used))
        of_rows = tuple(np.isin(table, used) for table in mine)
        return (of_rows[0], of_rows[1]), len(used) / max(1, names), names, len(used)

    def _numbers(self, places: list[Any], pairs: tuple[Pair, ...]) -> Any:
        """One number for the places of all pairs; -1 where one of them is missing."""
        number, missing = np.zeros(len(places[0]), "int64"), np.zeros(len(places[0]), bool)
        for place, pair in zip(places, pairs, strict=True):
            number = number * (len(self.values[pair]) + 1) + place
            missing |= place < 0
        return np.where(missing, -1, number)


class OwnColumns:
    """Columns of the rows to learn from and to predict that may name rows of further tables.

    Args:
        rows: of both, without what no key may be.
        preview: what tells kinds of columns.
    """

    def __init__(self, rows: tuple[Any, Any], preview: Any) -> None:
        self.rows = rows
        self.kinds = {str(one["name"]): one["kind"] for one in preview.profile(rows[0].head(HEAD))}
        self.columns = {name: _Column(name, rows[0][name]) for name in rows[0]}
        self.coded = _Coded(rows)


def shared_columns(piece: Any, own: OwnColumns) -> Shared:
    """The pairs of columns that may name rows of both: of the same name, or of values that agree.

    Args:
        piece: first rows of the further table.
    """
    head, found = piece.head(HEAD), Shared([])
    theirs, written = {name: _Column(name, head[name]) for name in head}, _Alike(head)
    for side, mine in product(theirs, own.columns):
        pair = _pair(own.columns[mine], theirs[side], own.kinds[mine])
        if pair is None:
            continue
        values, codes = own.coded.column(*pair.of_mine)
        named = set(values.get_indexer(written.column(*pair.of_side))) - {-1}
        if named and (pair.same or len(named) >= (FEW if pair.way == "number" else 3)):
            found.pairs.append(pair)
            found.values[pair], found.codes[pair] = values, codes
    return found


class _Column:
    """What a column holds, found once for all that it is held against."""

    def __init__(self, name: str, values: Any) -> None:
        self.name, self._all = name, values

    @cached_property
    def values(self) -> Any:
        return self._all.dropna().head(HEAD)

    @cached_property
    def may_name(self) -> bool:
        """True if most of its values are different."""
        return bool(self._all.nunique() > 0.5 * self._all.notna().sum())

    @cached_property
    def are_numbers(self) -> bool:
        return _are_numbers(self.values)

    @cached_property
    def are_whole(self) -> bool:
        return bool((pd.to_numeric(self.values, errors="coerce").dropna() % 1 == 0).all())

    @cached_property
    def form(self) -> str | None:
        return _form(self.values)

    @cached_property
    def are_days(self) -> bool:
        times = _times(self.values, str(self.form))
        return bool(times.eq(times.dt.normalize()).mean() > ALIKE)

    @cached_property
    def are_long(self) -> bool:
        texts = self.values.astype(str)
        return bool(texts.str.len().mean() > LONG and texts.str.contains(r"\S\s+\S").mean() > 1 - ALIKE)


class _Alike:
    """Columns of a table as they are compared, each made once."""

    def __init__(self, table: Any) -> None:
        self._table, self._made = table, dict[tuple[str, str, str], Any]()

    def column(self, name: str, way: str, form: str) -> Any:
        key = name, way, form
        if key not in self._made:
            self._made[key] = alike(self._table[name], way, form)
        return self._made[key]


class _Coded:
    """Columns of the rows to learn from and to predict: their different values, and the place of each row's."""

    def __init__(self, rows: tuple[Any, Any]) -> None:
        self._rows, self._made = rows, dict[tuple[str, str, str], tuple[Any, tuple[Any, Any]]]()

    def column(self, name: str, way: str, form: str) -> tuple[Any, tuple[Any, Any]]:
        key = name, way, form
        if key not in self._made:
            both = [alike(table[name], way, form) for table in self._rows]
            codes, values = pd.factorize(pd.concat(both, ignore_index=True))
            self._made[key] = pd.Index(values), (codes[: len(both[0])], codes[len(both[0]) :])
        return self._made[key]


def _pair(mine: _Column, side: _Column, kind: str) -> Pair | None:
    same = _plain(mine.name) == _plain(side.name)
    if not same and (kind in ("date", "text", "constant") or not side.may_name):
        return None
    way, mine_form, side_form = _way(mine, side)
    if way == "" or (not same and (way in ("day", "time") or (way == "number" and not _related(mine.name, side.name)))):
        return None
    return Pair(mine.name, side.name, way, mine_form, side_form, same)


def _way(ours: _Column, theirs: _Column) -> tuple[str, str, str]:
    """How two columns are made alike, and the forms of their dates; '' where they cannot be, or are no names."""
    if not len(ours.values) or not len(theirs.values):
        return "", "", ""
    if ours.are_numbers and theirs.are_numbers:
        return ("number" if ours.are_whole and theirs.are_whole else ""), "", ""
    if ours.form is not None and theirs.form is not None:
        return ("day" if ours.are_days or theirs.are_days else "time"), ours.form, theirs.form
    return ("" if ours.are_long or theirs.are_long else "text"), "", ""


def _are_numbers(values: Any) -> bool:
    return bool(pd.to_numeric(values, errors="coerce").notna().mean() > ALIKE)


def _form(values: Any) -> str | None:
    """How dates are written, '' where pandas need not be told; None for what is no date."""
    if pd.api.types.is_numeric_dtype(values):
        written = values.astype("int64").astype(str)
        is_day = bool((written.str.len() == 8).all())
        return "%Y%m%d" if is_day and _times(values, "%Y%m%d").notna().mean() > ALIKE else None
    if not values.astype(str).str.contains(r"\d.*[-/.: ].*\d", regex=True).mean() > ALIKE:
        return None
    form = format_to_tell(values)
    return form if _times(values, form).notna().mean() > ALIKE else None


def alike(values: Any, way: str, form: str) -> Any:
    """A column in the form in which two tables are compared, as programs of `rules` make it."""
    if way == "number":
        return pd.to_numeric(values, errors="coerce").astype(float)
    if way == "text":
        return values.astype(str).str.strip().where(values.notna())
    times = _times(values, form)
    return times.dt.normalize() if way == "day" else times


def _times(values: Any, form: str) -> Any:
    if form == "%Y%m%d":
        values = pd.to_numeric(values, errors="coerce").astype("Int64").astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pd.to_datetime(values, errors="coerce", utc=True, format=form or None).dt.tz_localize(None)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def _related(mine: str, side: str) -> bool:
    """True if one name is a part of the other: `store` and `store_nbr`."""
    one, other = _plain(mine), _plain(side)
    return len(one) > 1 and len(other) > 1 and (one in other or other in one)
