"""Rows that belong together, where those of the test belong to others: patients, customers, stores of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pandas as pd

from ..tables.keys import as_keys

_ID = re.compile(r"(?:(?:^|[\W_])(?i:ids?)|[a-z]I[dD]s?)$")
FEWEST = 10
"""Groups in either table; of fewer, that they are others may be chance."""
ROWS = 1.5
"""Rows of a group, at least, on the mean of either table."""


def told_new_groups(columns: Collection[str], column: Callable[[str], Any], test: Any) -> Iterator[str]:
    """A line for each column of ids of which a group has several rows, and the test none of the training table's.

    Hidden rows that are drawn one by one have rows of their own group beside them in training, and score better than
    those of the test will.

    Args:
        columns: of the training table.
        column: → one of them, over the labelled rows.
        test: the user's table of rows to predict.
    """
    for name in test if len(test) else ():
        if not _ID.search(str(name)) or name not in columns:
            continue
        mine, theirs = (_groups(values) for values in (column(name), test[name]))
        if mine is not None and theirs is not None and not set(mine) & set(theirs):
            told = f"{name}: several rows have each, and the rows of test.csv have others than those of train.csv"
            yield f"{told}: data.split=group:{name} hides whole groups, so that scores are of new ones too"


def _groups(values: Any) -> Any:
    """The different ids of a column; None where they do not name groups of rows."""
    found = as_keys(values).dropna()
    different = found.unique()
    names = not pd.api.types.is_float_dtype(values) and len(different) >= FEWEST
    return different if names and len(found) >= ROWS * len(different) else None
