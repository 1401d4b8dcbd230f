"""Greedy ensemble selection on stored predictions: which programs, how often, combined how.

Source: Caruana et al. 2004, "Ensemble Selection from Libraries of Models" (selection with replacement).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

ROUNDS = 12
"""Picks at most; a program may be picked several times, which gives it more weight."""
HELPFUL = 20
"""Programs that are tried for a third pick and later ones: those that helped the best most."""


POWERS = (0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0, 2.4)
LEAST = 1e-15
"""Of a probability, before it is raised to a power."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large a blend may be: different programs, and the seconds that these take together."""

    most: int = 5
    seconds: float = math.inf


def scale_of(metric: str, labels: bool) -> str:
    """How predictions are combined: `log` mean, mean of `rank`s, `vote` of labels, or plain `mean`."""
    if labels:
        return "vote"
    return {"rmsle": "log", "auc": "rank", "gini": "rank"}.get(metric, "mean")


def powers_of(metric: str) -> tuple[float, ...]:
    """Powers of probabilities among which the best is taken: the mean of several programs is less sure than each."""
    return POWERS if metric in ("logloss", "brier") else (1.0,)


def combine(columns: Sequence[Any], scale: str) -> Any:
    """One prediction from several (a column, or rows of a column for each class), each counted once."""
    return _merged([_prepared(column, scale) for column in columns], scale)


def _prepared(values: Any, scale: str) -> Any:
    """Predictions on the scale on which they are added up."""
    if scale == "vote":
        return np.asarray(values).astype(str)
    array = np.asarray(values, dtype=float)
    if scale == "log":
        return np.log1p(array)
    return _ranks(array) if scale == "rank" else array


def _merged(prepared: Sequence[Any], scale: str) -> Any:
    if scale == "vote":
        stacked = np.stack(prepared)
        names, codes = np.unique(stacked, return_inverse=True)
        codes = codes.reshape(stacked.shape)
        counts = np.stack([(codes == code).sum(axis=0) for code in range(len(names))])
        return names[counts.argmax(axis=0)]
    middle = np.mean(prepared, axis=0)
    return np.expm1(middle) if scale == "log" else middle


def raised(values: Any, power: float) -> Any:
    """Probabilities to a power, so that those of a row are 1 together again: surer above 1, less sure below."""
    if power == 1.0:
        return values
    mine = np.clip(values, LEAST, 1.0) ** power
    others = mine.sum(axis=1, keepdims=True) if mine.ndim > 1 else mine + np.clip(1.0 - values, LEAST, 1.0) ** power
    return mine / others


def _ranks(values: Any) -> Any:
    """Average ranks in 0..1, so that columns of different scales can be added."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - (counts - 1) / 2.0)[inverse] - 0.5) / len(values)


def select(
    columns: Sequence[Any],
    scale: str,
    score: Callable[[Any], float],
    lower_is_better: bool,
    seconds: Sequence[float] = (),
    bounds: Bounds = Bounds(),
    powers: Sequence[float] = (1.0,),
) -> dict[str, Any]:
    """`{picks: [index…], power, score}`: start with the best, add whichever helps most, stop when nothing does.

    The best alone is tried with all others, so that one of another kind is found behind many near copies.

    Args:
        seconds: what each program takes; () for nothing.
        powers: that what is combined may be raised to, in order; 1 is among them.
    """
    sign = 1.0 if lower_is_better else -1.0
    prepared = [_prepared(column, scale) for column in columns]
    takes = list(seconds) or [0.0] * len(prepared)

    def tried(picks: Sequence[int], near: int) -> tuple[float, int]:
        """The least loss, and the place of its power: that of before, or one beside it."""
        merged = _merged([prepared[i] for i in picks], scale)
        places = range(max(0, near - 1), min(len(powers), near + 2))
        return min((sign * score(raised(merged, powers[place])), place) for place in places)

    def fits(picks: Sequence[int]) -> bool:
        different = set(picks)
        return len(different) <= bounds.most and sum(takes[i] for i in different) <= bounds.seconds

    everyone, usual = range(len(columns)), powers.index(1.0)
    (best, near), index = min((tried([i], usual), i) for i in everyone)
    picks, able = [index], list(everyone)
    for _ in range(ROUNDS - 1):
        grown = sorted((tried([*picks, i], near), i) for i in able if i in picks or fits([*picks, i]))
        (found, place), index = grown[0]
        if found >= best - 1e-12:
            break
        best, near = found, place
        picks.append(index)
        able = list({*picks, *(i for _, i in grown[:HELPFUL])})
    while (further := tried(picks, near))[0] < best:
        best, near = further
    return {"picks": sorted(picks), "power": powers[near], "score": sign * best}
