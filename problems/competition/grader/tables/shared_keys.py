"""Columns whose values name rows of two tables, whatever they are called and however each table writes them."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
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
"""Characters of a word on average from which a column is text and no key."""


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
        found = [
            self.values[pair].get_indexer(alike(piece[pair.side], pair.way, pair.side_form)) for pair in self.pairs
        ]
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


def shared_columns(piece: Any, rows: tuple[Any, Any], preview: Any) -> Shared:
    """The pairs of columns that may name rows of both: of the same name, or of values that agree.

    Args:
        piece: first rows of the further table.
        rows: those to learn from and to predict, without what no key may be.
    """
    head, found = piece.head(HEAD), Shared([])
    kinds = {str(one["name"]): one["kind"] for one in preview.profile(rows[0].head(HEAD))}
    for side in head:
        for mine in rows[0]:
            pair = _pair(mine, side, rows[0][mine], head[side], kinds[mine])
            if pair is not None:
                found.pairs.append(pair)
    for pair in list(found.pairs):
        _learn(found, pair, rows)
        named = set(found.values[pair].get_indexer(alike(head[pair.side], pair.way, pair.side_form))) - {-1}
        if not named or (not pair.same and len(named) < (FEW if pair.way == "number" else 3)):
            found.pairs.remove(pair)
    return found


def _pair(mine: str, side: str, ours: Any, theirs: Any, kind: str) -> Pair | None:
    same = _plain(mine) == _plain(side)
    if not same and (kind in ("date", "text", "constant") or not _may_name(theirs)):
        return None
    way, mine_form, side_form = _way(ours, theirs)
    if way == "" or (not same and (way in ("day", "time") or (way == "number" and not _related(mine, side)))):
        return None
    return Pair(mine, side, way, mine_form, side_form, same)


def _may_name(values: Any) -> bool:
    return bool(values.nunique() > 0.5 * values.notna().sum())


def _learn(found: Shared, pair: Pair, rows: tuple[Any, Any]) -> None:
    both = [alike(table[pair.mine], pair.way, pair.mine_form) for table in rows]
    codes, values = pd.factorize(pd.concat(both, ignore_index=True))
    found.values[pair] = pd.Index(values)
    found.codes[pair] = codes[: len(both[0])], codes[len(both[0]) :]


def _way(ours: Any, theirs: Any) -> tuple[str, str, str]:
    """How two columns are made alike, and the forms of their dates; '' where they cannot be, or are no names."""
    ours, theirs = ours.dropna().head(HEAD), theirs.dropna().head(HEAD)
    if not len(ours) or not len(theirs):
        return "", "", ""
    if _are_numbers(ours) and _are_numbers(theirs):
        numbers = [pd.to_numeric(values, errors="coerce") for values in (ours, theirs)]
        are_whole = all(bool((values.dropna() % 1 == 0).all()) for values in numbers)
        return ("number" if are_whole else ""), "", ""
    forms = _form(ours), _form(theirs)
    if None not in forms:
        mine_form, side_form = (str(form) for form in forms)
        times = [_times(values, form) for values, form in ((ours, mine_form), (theirs, side_form))]
        are_days = any(bool(some.eq(some.dt.normalize()).mean() > ALIKE) for some in times)
        return ("day" if are_days else "time"), mine_form, side_form
    is_long = any(values.astype(str).str.len().mean() > LONG for values in (ours, theirs))
    return ("" if is_long else "text"), "", ""


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
