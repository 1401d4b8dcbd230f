"""Greedy ensemble selection on stored predictions: which programs, how often, combined how.

Source: Caruana et al. 2004, "Ensemble Selection from Libraries of Models" (selection with replacement).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

ROUNDS = 12
"""Picks at most; a program may be picked several times, which gives it more weight."""


def scale_of(metric: str, labels: bool) -> str:
    """How predictions are combined: `log` mean, mean of `rank`s, `vote` of labels, or plain `mean`."""
    if labels:
        return "vote"
    return {"rmsle": "log", "auc": "rank", "gini": "rank"}.get(metric, "mean")


def combine(columns: Sequence[Any], scale: str) -> Any:
    """One column from several, each counted once."""
    if scale == "vote":
        stacked = np.stack([np.asarray(column).astype(str) for column in columns])
        names, codes = np.unique(stacked, return_inverse=True)
        codes = codes.reshape(stacked.shape)
        counts = np.stack([(codes == code).sum(axis=0) for code in range(len(names))])
        return names[counts.argmax(axis=0)]
    arrays = [np.asarray(column, dtype=float) for column in columns]
    if scale == "log":
        return np.expm1(np.mean([np.log1p(array) for array in arrays], axis=0))
    if scale == "rank":
        arrays = [_ranks(array) for array in arrays]
    return np.mean(arrays, axis=0)


def _ranks(values: Any) -> Any:
    """Average ranks in 0..1, so that columns of different scales can be added."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return ((ends - (counts - 1) / 2.0)[inverse] - 0.5) / len(values)


def select(columns: Sequence[Any], scale: str, score: Callable[[Any], float], lower_is_better: bool) -> dict[str, Any]:
    """`{picks: [index…], score}`: start with the best, add whichever helps most, stop when nothing does."""
    sign = 1.0 if lower_is_better else -1.0

    def loss(picks: Sequence[int]) -> float:
        return sign * score(combine([columns[i] for i in picks], scale))

    picks = [min(range(len(columns)), key=lambda i: loss([i]))]
    best = loss(picks)
    for _ in range(ROUNDS - 1):
        trials = [(loss([*picks, i]), i) for i in range(len(columns))]
        found, index = min(trials)
        if found >= best - 1e-12:
            break
        best = found
        picks.append(index)
    return {"picks": sorted(picks), "score": sign * best}
