"""Answers of hidden rows that stand in other rows: a column that holds the target of the row before, or sums it up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import ceil, log10
from typing import Any

import numpy as np
import pandas as pd

from ..tables.counts import counted

LOOKED_UP = 200
"""Hidden rows whose answer is looked for anywhere."""
SELDOM = 5
"""A number that stands in more rows is met by accident."""
FARTHEST = 7
"""Rows between a value that stands in many rows and where it is looked for."""
TOLD, FEWEST = 0.1, 3
"""Share of the hidden rows, and how many of them, from which it is told."""
SURE = 0.98
"""Share of what chance makes wrong that must be right, and …"""
LESS_WRONG = 5
"""… so many times fewer wrong ones than in the row itself: a target that seldom changes is told by its own row, too."""


def told_elsewhere(rows: Any, columns: list[str], target: str, hidden: Any) -> Iterator[str]:
    """One line for each column in which other rows hold answers of hidden ones.

    A program that knows an order (a time, a number, that of the file) puts a hidden row beside the one that tells.

    Args:
        rows: neighbouring rows in an order that programs know.
        columns: what programs see of all of them.
        hidden: of each row, whether programs do not see its target.
    """
    count = int(hidden.sum())
    for column in columns:
        for told, how in _ways(rows[column], rows[target], hidden):
            if told >= max(FEWEST, TOLD * count):
                what = how.format(column=column, target=target)
                of = counted(count, "hidden row")
                yield f"possible leak: {what}: it tells {told} of {of}; is it known when you predict?"
                break


def _ways(values: Any, target: Any, hidden: Any) -> Iterator[tuple[int, str]]:
    """(hidden rows that it tells, in words) of each way in which a column may tell the target of other rows."""
    is_number = pd.api.types.is_numeric_dtype(values)
    if is_number != pd.api.types.is_numeric_dtype(target):
        return
    if not is_number:
        yield _as_classes(values.astype(object), target.astype(object), hidden), "{column} of another row is {target}"
        return
    raw, answers = values.to_numpy(float), target.to_numpy(float)
    with np.errstate(all="ignore"):  # infinities are no steps
        steps = np.diff(raw, prepend=np.nan)
    answers, numbers, steps = (np.round(each, _digits(answers)) for each in (answers, raw, steps))
    yield _as_numbers(numbers, answers, hidden), "{column} of another row is {target}"
    yield _as_classes(pd.Series(numbers), pd.Series(answers), hidden), "{column} of another row is {target}"
    yield _as_numbers(steps, answers, hidden, itself=True), "{column} grows by {target} from row to row"


def _as_numbers(values: Any, answers: Any, hidden: Any, *, itself: bool = False) -> int:
    """Hidden rows whose answer stands so many rows farther, at the distance at which most of those do that are seldom.

    Args:
        itself: the row itself is one of them.
    """
    asked = np.flatnonzero(hidden & np.isfinite(answers) & (answers != 0))
    asked = asked[:: max(1, len(asked) // LOOKED_UP)]
    order = np.argsort(values, kind="stable")
    first, last = (np.searchsorted(values[order], answers[asked], side) for side in ("left", "right"))
    found: Counter[int] = Counter()
    for row, begin, end in zip(asked.tolist(), first.tolist(), last.tolist(), strict=True):
        there = order[begin:end].tolist() if end - begin <= SELDOM else []
        found.update(place - row for place in there if itself or place != row)
    distance, often = max(found.items(), key=lambda one: one[1], default=(0, 0))
    if often < max(FEWEST, TOLD * len(asked)):
        return 0
    return int(((_moved(values, distance) == answers) & hidden & (answers != 0)).sum())


def _digits(answers: Any) -> int:
    """Decimals that are compared, nine places in all: what was summed up is not the same to the last one."""
    largest = np.abs(answers[np.isfinite(answers)]).max(initial=0.0)
    return 9 - ceil(log10(largest)) if largest else 9


def _as_classes(values: Any, target: Any, hidden: Any) -> int:
    """The same of values that stand in many rows, of which some are right by chance."""
    codes, _ = pd.factorize(pd.concat([target, values], ignore_index=True))
    labels, seen = codes[: len(target)], codes[len(target) :]  # what is missing has the code -1
    if not (seen >= 0).any() or not np.isin(seen[seen >= 0], labels).mean() >= SURE:
        return 0
    shares = np.bincount(labels[labels >= 0], minlength=codes.max() + 1) / len(labels)
    by_chance = float(shares @ np.bincount(seen[seen >= 0], minlength=len(shares)) / (seen >= 0).sum())
    may_be_wrong, most = (1 - SURE) * (1 - by_chance), int(shares.argmax())
    itself, best = _wrong(labels, seen, hidden), 0
    for distance in (*range(-FARTHEST, 0), *range(1, FARTHEST + 1)):
        moved = _moved(seen, distance)
        wrong = _wrong(labels, moved, hidden)
        right = (moved == labels) & (labels >= 0) & hidden
        if wrong <= may_be_wrong and wrong * LESS_WRONG < itself and (right & (labels != most)).sum() >= FEWEST:
            best = max(best, int(right.sum()))
    return best


def _wrong(labels: Any, seen: Any, hidden: Any) -> float:
    """Share of the hidden rows of another class, of those where there is one."""
    known = hidden & (seen >= 0)
    return float((seen != labels)[known].mean()) if known.any() else 1.0


def _moved(values: Any, distance: int) -> Any:
    """Of each row the value so many rows farther."""
    moved = np.full(len(values), -1 if values.dtype.kind == "i" else np.nan, values.dtype)
    here, there = slice(max(0, -distance), len(values) - max(0, distance)), slice(max(0, distance), None)
    if abs(distance) < len(values):
        moved[here] = values[there][: len(moved[here])]
    return moved
