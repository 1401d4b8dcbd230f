"""Writes the rows that programs learn, piece by piece, and keeps those that are hidden from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .own_tables import OwnTables
from .pieces import LOOKED_AT, marked, spread


@dataclass(frozen=True, slots=True)
class Sides:
    """Labelled rows on both sides of the split.

    Args:
        shown: at most `LOOKED_AT` of the rows that programs learn, spread over all.
        count: how many they learn.
        hidden: all hidden rows.
        equal: of each hidden row a number; rows that are equal in every feature have the same.
        twins: how many of the hidden rows equal a row that is learned.
    """

    shown: Any
    count: int
    hidden: Any
    equal: Any
    twins: int


def part_rows(tables: OwnTables, hidden: Any, shown: Any, path: Path, key: str) -> Sides:
    """Write the rows at `shown` to `path`.

    Args:
        hidden: a mask of the labelled rows.
        shown: places of the rows that are learned.
        key: the column that names rows; one that we made is the first.
    """
    columns = tables.columns if key in tables.train.kinds else [key, *tables.columns]
    features = _features(tables, key)
    shown_at, looked_at, hidden_at = (
        marked(places, tables.train.count)
        for places in (shown, spread(shown.to_numpy(), LOOKED_AT), tables.labelled.index[hidden])
    )
    kept, seen, known = [], [], []
    for piece in tables.pieces():
        rows = piece[columns]
        learned = rows[shown_at[rows.index]]
        learned.to_csv(path, index=False, mode="a", header=not path.exists())
        kept.append(rows[hidden_at[rows.index]])
        seen.append(rows[looked_at[rows.index]])
        known.append(_fingerprints(learned[features]))
    answers = pd.concat(kept)
    twins, mine = np.zeros(len(answers), bool), _fingerprints(answers[features])
    for some in known if len(features) > 1 else ():
        twins |= np.isin(mine, some)
    return Sides(pd.concat(seen), len(shown), answers, mine, int(twins.sum()))


def numbers_of_rows(tables: OwnTables, key: str) -> Any:
    """Of each labelled row a number; rows that are equal in every feature have the same.

    Args:
        key: the column that names rows, which is no feature.
    """
    features = _features(tables, key)
    return pd.concat([pd.Series(_fingerprints(piece[features]), piece.index) for piece in tables.pieces()])


def _features(tables: OwnTables, key: str) -> list[str]:
    return [name for name in tables.features if name != key]


def _fingerprints(rows: Any) -> Any:
    """Equal rows have equal numbers. Lists and the like, as JSON and Parquet may hold them, count as text."""
    plain = rows.assign(**{name: rows[name].astype(str) for name in rows if rows[name].dtype == object})
    return pd.util.hash_pandas_object(plain, index=False).to_numpy()
