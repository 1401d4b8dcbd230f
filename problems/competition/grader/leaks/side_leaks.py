"""Looks for what makes a score too good in further tables: columns that tell the target once they are joined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ..tables.plain_reading import pieces_of
from ..tables.shared_keys import alike
from .leaks import ROWS, is_copy, is_filled_for_one

MOST_ROWS = 2_000_000
"""Of a table that is looked at."""
FEWEST = 10
"""Rows of each of two classes from which it is no chance that a number parts them."""


def told_by_tables(public: Path, tables: list[dict[str, Any]], shown: Any, targets: list[str]) -> Iterator[str]:
    """One line for each table that tells a target exactly, row by row or by the sums and means of a key.

    Args:
        tables: of `side_tables`.
        shown: rows that are learned from.
    """
    head = shown.head(ROWS)
    for one in tables:
        if one["rows"] > MOST_ROWS:
            continue
        try:
            joined = _joined(public / one["file"], one, head)
        except (ValueError, TypeError, LookupError, OSError):  # the user's file: what cannot be summed up tells nothing
            continue
        for target in targets:
            told = [name for name in _columns(one) if _tells(joined, name, head[target])]
            if told:
                columns = ", ".join(told[:3])
                yield f"possible leak: {columns} of {one['file']} tells {target} exactly; is it known when you predict?"


def _columns(one: Mapping[str, Any]) -> list[str]:
    return [*one["numbers"], *one["words"], *(name for name, _ in one["dates"])]


def _joined(path: Path, one: Mapping[str, Any], head: Any) -> list[Any]:
    """What the table tells of each of the rows: its first row of a key, and the means and sums of all."""
    by, columns = one["by"], _columns(one)
    ours = {place: alike(head[pair["mine"]], pair["way"], pair["mine_form"]) for place, pair in enumerate(by)}
    named, pieces = set(ours[0].dropna()), []
    for piece in pieces_of(path, one["how"], [*columns, *(pair["side"] for pair in by)]):
        pieces.append(piece[alike(piece[by[0]["side"]], by[0]["way"], by[0]["side_form"]).isin(named)])
    table = pd.concat(pieces, ignore_index=True)
    theirs = {place: alike(table[pair["side"]], pair["way"], pair["side_form"]) for place, pair in enumerate(by)}
    numbers: dict[str, Any] = {name: pd.to_numeric(table[name], errors="coerce") for name in one["numbers"]}
    numbers |= {name: _days(table[name], form) for name, form in one["dates"]}
    told: dict[Any, Any] = {**theirs, **{name: numbers.get(name, table[name]) for name in columns}}
    groups = pd.DataFrame(told).groupby(list(theirs))
    found = [groups.first()]
    if not one["one"] and numbers:
        found += [groups[list(numbers)].mean(), groups[list(numbers)].sum()]
    keys = pd.DataFrame(ours)
    return [keys.merge(each.reset_index(), how="left", on=list(ours)).set_axis(head.index) for each in found]


def _days(values: Any, form: str) -> Any:
    """Dates as numbers, NaN for what is none."""
    since = pd.to_datetime(values.astype("str"), format=form or None, errors="coerce", utc=True)
    return (since - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(days=1)


def _tells(joined: list[Any], name: str, target: Any) -> bool:
    for table in joined:
        if name not in table:
            continue
        values, there = table[name], table[name].notna()
        if is_copy(values, target) or is_filled_for_one(values, target):
            return True
        if pd.api.types.is_numeric_dtype(values) and _parts(values[there], target[there]):
            return True
    return False


def _parts(values: Any, target: Any) -> bool:
    """True if a number lies above a mark in all rows of one of two classes, and below it in all of the other."""
    codes, classes = pd.factorize(target)
    if len(classes) != 2 or len(values) < 0.9 * len(target) or min((codes == 0).sum(), (codes == 1).sum()) < FEWEST:
        return False
    first, second = values[codes == 0], values[codes == 1]
    return bool(first.max() < second.min() or second.max() < first.min())
