"""Ids as text, so that 7, 7.0 and "7" are one id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

_WHOLE = 2.0**53
"""Beyond it a float has no units."""
MANY = 10_000
"""Ids from which it is worth a look whether few are different."""


def as_keys(ids: Any) -> Any:
    """As the module says; a missing id is None."""
    ids = pd.Series(ids).reset_index(drop=True)
    places, few = pd.factorize(ids, use_na_sentinel=True) if len(ids) > MANY else ((), ids)
    if len(few) < len(ids) / 2:  # one text for each value, not for each row
        keys = np.array([*_texts_of(pd.Series(few)), None], object)
        return pd.Series(keys[places], name=ids.name)
    return _texts_of(ids)


def each_once(columns: Iterable[Any]) -> bool:
    """True if these columns, one after the other, name each row by an id of its own. Of each id a number is held."""
    marks = []
    for column in columns:
        keys = as_keys(column)
        if keys.isna().any():
            return False
        marks.append(pd.util.hash_array(keys.to_numpy(object), categorize=False))
    whole = np.concatenate(marks)
    whole.sort()
    return bool((whole[1:] != whole[:-1]).all())


def _texts_of(ids: Any) -> Any:
    if pd.api.types.is_float_dtype(ids):
        there = ids.dropna()
        if (there % 1 == 0).all() and (there.abs() <= _WHOLE).all():
            ids = ids.astype("Int64")
    return ids.astype("string").astype(object).where(ids.notna(), None)
