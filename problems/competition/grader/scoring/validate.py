"""Checks a submission like a grader: columns, rows, ids, types, NaN, infinity, range. Says what is wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..tables.counts import counted
from ..tables.exact import Malformed
from ..tables.keys import as_keys

SHOWN = 3
"""Examples that a message names."""
ROUNDING = 1e-9
"""By so much a mean of probabilities may pass 1: it is 1."""


def check_columns(table: Any, wanted: Sequence[str]) -> None:
    have = [str(name) for name in table.columns]
    missing = [name for name in wanted if name not in have]
    extra = [name for name in have if name not in wanted]
    if missing or extra:
        parts = [f"missing {_names(missing)}"] if missing else []
        parts += [f"unexpected {_names(extra)}"] if extra else []
        raise Malformed(f"columns must be {_names(wanted)}; {', '.join(parts)}")


def check_ids(table: Any, column: str, wanted: Any) -> Any:
    """Every wanted id exactly once, none else. Returns the table in the order of `wanted`, indexed by id."""
    if column not in table.columns:
        raise Malformed(f"the id column '{column}' is missing; columns are {_names(map(str, table.columns))}")
    if len(table) == 0:
        raise Malformed(f"no rows; needs {len(wanted)}, one for each id of test.csv")
    keys, known = as_keys(table[column]), as_keys(wanted)
    if keys.isna().any():
        raise Malformed(
            f"{counted(int(keys.isna().sum()), 'empty id')} in column '{column}' (first in row {_row(keys.isna())})"
        )
    doubled = keys[keys.duplicated()]
    if len(doubled):
        raise Malformed(f"{counted(len(doubled), 'duplicate id')} in column '{column}', such as {_examples(doubled)}")
    absent, foreign = known[~known.isin(keys)], keys[~keys.isin(known)]
    if len(absent) or len(foreign):
        parts = [f"needs {counted(len(known), 'row')}, has {len(keys)}"] if len(known) != len(keys) else []
        parts += (
            [f"{counted(len(absent), 'id of test.csv is', 'ids of test.csv are')} missing, such as {_examples(absent)}"]
            if len(absent)
            else []
        )
        parts += (
            [f"{counted(len(foreign), 'id is', 'ids are')} not in test.csv, such as {_examples(foreign)}"]
            if len(foreign)
            else []
        )
        raise Malformed(f"column '{column}': {'; '.join(parts)}")
    return table.set_axis(pd.Index(keys), axis=0).loc[known.to_numpy()]


def _float(number: int) -> float:
    """A whole number that no 64 bits hold; infinite where no float holds it either."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def check_numbers(column: Any, name: str, *, low: float | None = None, high: float | None = None) -> Any:
    """The column as floats; ids are its index."""
    if pd.api.types.is_bool_dtype(column):
        column = column.astype(float)
    if column.dtype == object:
        column = column.map(lambda value: _float(value) if type(value) is int else value)
    numbers = pd.to_numeric(column, errors="coerce")
    text = numbers.isna() & column.notna()
    if text.any():
        bad = column[text].iloc[0]
        raise Malformed(f"column '{name}' must hold numbers; {_count(text)} not, such as {str(bad)[:40]!r} {_at(text)}")
    if numbers.isna().any():
        raise _missing(name, numbers.isna())
    numbers = numbers.astype(float)
    infinite = np.isinf(numbers)
    if infinite.any():
        count = counted(int(infinite.sum()), "infinite value")
        raise Malformed(f"column '{name}' has {count}, such as {_at(infinite)}")
    for bound, side, words in ((low, -1, "at least"), (high, 1, "at most")):
        if bound is not None and (outside := side * (numbers - bound) > ROUNDING).any():
            bad = numbers[outside].iloc[0]
            raise Malformed(
                f"column '{name}' must be {words} {bound:g}; {_count(outside)} not, such as {bad:g} {_at(outside)}"
            )
    return numbers.clip(low, high)


def refuse(faults: Sequence[str]) -> None:
    """Raise Malformed for what is wrong with the columns, all that fits into a message."""
    if faults:
        more = f"; and {counted(len(faults) - SHOWN, 'more such column')}" if len(faults) > SHOWN else ""
        raise Malformed("; ".join(faults[:SHOWN]) + more)


def check_labels(column: Any, name: str, like: Any, classes: Sequence[str] | None = None) -> Any:
    """The column as labels of the same type as the answers'.

    Args:
        classes: of training, where it is known that labels are of these: codes or probabilities in their place would be
            wrong in every row.
    """
    if column.isna().any():
        raise _missing(name, column.isna())
    numeric = pd.api.types.is_numeric_dtype(like) and not pd.api.types.is_bool_dtype(like)
    labels = check_numbers(column, name) if numeric else _words(column, like)
    if classes and not labels.isin(list(map(float, classes)) if numeric else classes).any():
        given = str(column.iloc[0])[:40]
        raise Malformed(f"column '{name}' holds no class of train.csv, but {given!r}; classes are {_names(classes)}")
    return labels


def _words(column: Any, like: Any) -> Any:
    if pd.api.types.is_bool_dtype(like) and pd.api.types.is_numeric_dtype(column) and column.isin([0, 1]).all():
        column = column.astype(bool)  # as learners predict them
    return column.astype(str)


def _names(names: Any) -> str:
    shown = [repr(name[:60]) for name in names]
    more = f" and {len(shown) - 8} more" if len(shown) > 8 else ""
    return ", ".join(shown[:8]) + more


def _examples(values: Any) -> str:
    return ", ".join(str(value)[:40] for value in list(values)[:SHOWN])


def _row(mask: Any) -> int:
    return int(np.flatnonzero(np.asarray(mask))[0]) + 2  # as an editor counts, after the header


def _missing(name: str, empty: Any) -> Malformed:
    count = counted(int(empty.sum()), "missing value")
    return Malformed(f"column '{name}' has {count} (NaN), such as {_at(empty)}")


def _at(mask: Any) -> str:
    return f"at id {mask.index[np.flatnonzero(np.asarray(mask))[0]]!s:.40}"


def _count(mask: Any) -> str:
    return f"{int(mask.sum())} of {len(mask)}"
