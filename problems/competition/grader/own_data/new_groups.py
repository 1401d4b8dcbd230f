"""How the rows of the test differ from those of training, where that asks for another split: they belong to other
patients, customers, stores, or are newer."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from shlex import quote
from typing import Any

import pandas as pd

from ..tables.keys import as_keys
from ..tables.times import date_formats, read

_ID = re.compile(r"(?:(?:^|[\W_])(?i:ids?)|[a-z]I[dD]s?)$")
FEWEST = 10
"""Groups in either table; of fewer, that they are others may be chance."""
ROWS = 1.5
"""Rows of a group, at least, on the mean of either table."""
FLATTERED = "the rows that are hidden to score programs are drawn one by one, so scores may be better than on test.csv"
"""What follows for the user: hidden rows have their like in training, those of the test have not."""
_TIME = re.compile(r"(?i)(?:.*[\W_])?(?:year|timestamp|unixtime|unix_time|epoch|date_block_num)")
"""What a column of numbers that grow with time is called."""


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
        theirs = _groups(test[name])
        mine = None if theirs is None else _groups(column(name))  # of a long table it is read anew
        if mine is not None and theirs is not None and not set(mine) & set(theirs):
            told = f"{name}: test.csv has none of those of train.csv, where each has several rows; {FLATTERED}"
            yield f"{told}: {quote(f'--data.split=group:{name}')} hides all rows of some"


def told_newer(columns: Collection[str], column: Callable[[str], Any], test: Any) -> Iterator[str]:
    """A line for the first column of times in which every row of the test is newer than all of the training table.

    Args:
        columns, column, test: as `told_new_groups` has them.
    """
    for name in test if len(test) >= FEWEST else ():
        if name not in columns:
            continue
        theirs = _times(test[name], str(name))
        mine = None if theirs is None else _times(column(name), str(name))
        if mine is not None and theirs is not None and theirs.min() >= mine.max() > mine.min():
            told = f"{name}: test.csv is newer than all of train.csv; {FLATTERED}"
            yield f"{told}: {quote(f'--data.split=time:{name}')} hides the newest rows"
            return


def _times(values: Any, name: str) -> Any:
    """A column of times, without missing cells; None for others."""
    there = values.dropna()
    if pd.api.types.is_datetime64_any_dtype(there):
        return there.astype("int64")
    if pd.api.types.is_numeric_dtype(there):
        return there if _TIME.fullmatch(name) and len(there) else None
    if not len(there) or not pd.api.types.is_string_dtype(there) or not _is_dated(there.iloc[0]):
        return None
    formats = date_formats(there)
    return read(there, formats[0]).astype("int64") if len(formats) == 1 else None


def _is_dated(text: str) -> bool:
    return sum(map(str.isdigit, text)) >= 4


def _groups(values: Any) -> Any:
    """The different ids of a column; None where they do not name groups of rows."""
    found = as_keys(values).dropna()
    different = found.unique()
    names = not pd.api.types.is_float_dtype(values) and len(different) >= FEWEST
    return different if names and len(found) >= ROWS * len(different) else None
