"""Writes the rows that programs learn, piece by piece, and keeps those that are hidden from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..tables.blocks import chosen, joined
from ..tables.columns import ID_NAMES
from ..tables.csv_text import write_csv
from ..tables.keys import each_once
from ..tables.pieces import looked_at, marked, spread
from ..tables.with_columns import with_columns
from .own_tables import OwnTables

NEIGHBOURS = 20_000
"""Rows at each end of the table that are kept as they stand there."""
WORDS = 3
"""Words of a text, on average, from which two equal ones are no accident."""
_COUNTER = re.compile(rf"(?i:(.*[_ .-])?({'|'.join(ID_NAMES)})|unnamed: \d+)|.*[a-z]I[dD]")
"""What a column is called that may do nothing but name rows."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Labelled rows on both sides of the split.

    Args:
        shown: `looked_at` of the rows that programs learn, spread over all.
        count: how many they learn.
        hidden: all hidden rows.
        equal: of each hidden row a number; rows that are equal in every feature have the same.
        twins: how many of the hidden rows equal a row that is learned.
        by_chance: how many did, were each column's values dealt among the hidden rows anew: few different values.
        ends: the first and the last rows of the table as they stand there, hidden ones too; one part where that is all.
    """

    shown: Any
    count: int
    hidden: Any
    equal: Any
    twins: int
    by_chance: int
    ends: tuple[Any, ...]


def part_rows(tables: OwnTables, hidden: Any, shown: Any, path: Path, key: str, features: list[str]) -> Sides:
    """Write the rows at `shown` to `path`.

    Args:
        hidden: a mask of the labelled rows.
        shown: places of the rows that are learned.
        key: the column that names rows; one that we made is the first.
        features: columns in which rows are compared.
    """
    columns = tables.columns if key in tables.train.kinds else [key, *tables.columns]
    described = spread(shown.to_numpy(), looked_at(len(columns)))
    shown_at, described_at, hidden_at = (
        marked(places, tables.train.count) for places in (shown, described, tables.labelled.index[hidden])
    )
    kept, seen, known = [], [], []
    ends = Ends()
    for piece in tables.pieces():
        rows = chosen(piece, columns)
        ends.add(rows)
        learned = rows[shown_at[rows.index]]
        write_csv(learned, path, more=True)
        kept.append(rows[hidden_at[rows.index]])
        seen.append(rows[described_at[rows.index]])
        known.append(_fingerprints(chosen(learned, features)))
    answers = joined(kept)
    compared = chosen(answers, features)
    twins, chance = (_among(_fingerprints(rows), known) & ~_is_empty(rows) for rows in (compared, _dealt(compared)))
    return Sides(
        joined(seen), len(shown), answers, _fingerprints(compared), int(twins.sum()),
        0 if _is_one_text(compared) else int(chance.sum()), ends.tables(),
    )  # fmt: skip


class Ends:
    """Keeps the first and the last `NEIGHBOURS` rows of pieces that come in order."""

    def __init__(self) -> None:
        self._first: list[Any] = []
        self._last: list[Any] = []
        self._count = 0

    def add(self, rows: Any) -> None:
        if self._count < NEIGHBOURS:
            self._first.append(rows.iloc[: NEIGHBOURS - self._count])
        self._count += len(rows)
        self._last.append(rows)
        while sum(map(len, self._last)) - len(self._last[0]) >= NEIGHBOURS:
            del self._last[0]

    def tables(self) -> tuple[Any, ...]:
        """One or two of them."""
        first = joined(self._first)
        return (first,) if self._count <= NEIGHBOURS else (first, joined(self._last).tail(NEIGHBOURS))


def telling_features(tables: OwnTables, key: str) -> list[str]:
    """Columns in which cases differ: without those that do nothing but name or count the rows.

    Args:
        key: the column that names rows.
    """
    named = [name for name in tables.features if _COUNTER.fullmatch(name.strip()) and name != key]
    names = {key, *(name for name in named if _names_rows(tables.column(name)))}
    return [name for name in tables.features if name not in names]


def _names_rows(values: Any) -> bool:
    return not pd.api.types.is_float_dtype(values) and each_once([values])


def numbers_of_rows(tables: OwnTables, features: list[str]) -> Any:
    """Of each labelled row a number; rows that are equal in these columns have the same."""
    return pd.concat([pd.Series(_fingerprints(chosen(piece, features)), piece.index) for piece in tables.pieces()])


def _among(rows: Any, known: list[Any]) -> Any:
    found = np.zeros(len(rows), bool)
    for some in known:
        found |= np.isin(rows, some)
    return found


def _is_empty(rows: Any) -> Any:
    """Rows of which nothing is known are no twins."""
    return rows.isna().all(axis=1).to_numpy()


def _dealt(rows: Any) -> Any:
    """Rows of the same values in each column, put together by chance."""
    random = np.random.default_rng(0)
    return with_columns(rows, {name: rows[name].array.take(random.permutation(len(rows))) for name in rows})


def _is_one_text(rows: Any) -> bool:
    """True if the only column holds sentences: chance does not write one twice."""
    if rows.shape[1] != 1 or pd.api.types.is_numeric_dtype(rows.iloc[:, 0]):
        return False
    return bool(rows.iloc[:, 0].astype(str).str.count(r"\s+").mean() >= WORDS - 1)


def _fingerprints(rows: Any) -> Any:
    """Equal rows have equal numbers, also where they differ by blanks or case only. Lists and the like, as JSON and
    Parquet may hold them, count as text.
    """
    if not rows.shape[1]:
        return np.zeros(len(rows), "uint64")
    plain = with_columns(rows, {name: _alike(rows[name]) for name in rows if not _is_plain(rows[name])})
    return pd.util.hash_pandas_object(plain, index=False).to_numpy()


def _is_plain(values: Any) -> bool:
    return pd.api.types.is_numeric_dtype(values) or pd.api.types.is_datetime64_any_dtype(values)


def _alike(values: Any) -> Any:
    """Texts in lower case, one blank between words; each different text is looked at once. What is missing is `''`."""
    codes, texts = pd.factorize(values.astype(str).to_numpy(object))
    return np.array([*(" ".join(text.split()).casefold() for text in texts), ""], object)[codes]  # it has the code -1
