"""Formulas for submissions with a column for each class, and of metrics that carry a number (`map@5`).

`truth` holds positions of classes, `predicted` is a table of rows × classes; each row has one true class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import scores
from .scores import Score, Undefined

EPSILON = 1e-15


def logloss(y: Any, p: Any) -> float:
    """Rows are scaled to sum to 1 first, as Kaggle does."""
    p = np.clip(np.asarray(p, float), EPSILON, None)
    return float(-np.mean(np.log(p[np.arange(len(y)), y] / p.sum(axis=1))))


def brier(y: Any, p: Any) -> float:
    """Mean over rows of the squared distance to the true class, summed over classes: 0 to 2."""
    return float(np.mean(np.sum((np.asarray(p, float) - np.eye(np.shape(p)[1])[y]) ** 2, axis=1)))


def mean_over_classes(score: Score) -> Score:
    """The score of each class against the rest, plain mean over the classes that these rows have."""

    def of(y: Any, p: Any) -> float:
        found = []
        for place in range(np.shape(p)[1]):
            mine = np.asarray(y) == place
            if mine.any() and not mine.all():
                found.append(score(mine.astype(int), p[:, place]))
        if not found:
            raise Undefined("one class against the rest is undefined: only one class in these rows")
        return float(np.mean(found))

    return of


def places(y: Any, p: Any) -> Any:
    """Rank of the true class in each row, 1 for the first; ties count as if the others came first."""
    p = np.asarray(p, float)
    return (p >= p[np.arange(len(y)), y][:, None]).sum(axis=1)


def mean_average_precision(k: int) -> Score:
    return lambda y, p: _mean_where(1 / (rank := places(y, p)), rank <= k)


def gain(k: int) -> Score:
    return lambda y, p: _mean_where(1 / np.log2((rank := places(y, p)) + 1), rank <= k)


def top(k: int) -> Score:
    return lambda y, p: float(np.mean(places(y, p) <= k))


def _mean_where(values: Any, counts: Any) -> float:
    return float(np.mean(np.where(counts, values, 0.0)))


def quantile(q: float) -> Score:
    """Pinball loss: a prediction below the truth costs q a unit, one above it 1 − q."""
    return lambda y, p: float(np.mean(np.maximum(q * (y - p), (q - 1) * (y - p))))


def grouped_gain(k: int) -> Score:
    """NDCG@k, plain mean over the groups that have a row of relevance; see `gains_of_groups`."""
    return lambda y, p: mean_of_groups(gains_of_groups(k, y, p))


def gains_of_groups(k: int, y: Any, p: Any) -> Any:
    """NDCG@k of each group, NaN for one without a row of relevance. Rows of equal predictions count as the mean over
    all their orders, as in scikit-learn: a table's own order must not tell.

    Args:
        y: relevance and group of each row.
        p: a number to sort by.
    """
    found = []
    for rows in _groups(y[:, 1]):
        gains, places = 2.0 ** y[rows, 0] - 1, np.unique(-np.asarray(p)[rows], return_inverse=True)[1]
        means = np.bincount(places, gains) / np.bincount(places)
        ideal = _discounted(np.sort(gains)[::-1][:k])
        found.append(_discounted(means[np.sort(places)][:k]) / ideal if ideal > 0 else np.nan)
    return np.array(found)


def mean_of_groups(gains: Any) -> float:
    there = gains[~np.isnan(gains)]
    if not len(there):
        raise Undefined("NDCG is undefined: no group has a row of relevance")
    return float(np.mean(there))


def _discounted(gains: Any) -> float:
    return float(np.sum(gains / np.log2(np.arange(len(gains)) + 2)))


def _groups(codes: Any) -> list[Any]:
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


CLASSES: dict[str, Score] = {
    "logloss": logloss,
    "brier": brier,
    "auc": mean_over_classes(scores.auc),
    "gini": mean_over_classes(scores.gini),
    "average_precision": mean_over_classes(scores.average_precision),
}
WITH_NUMBER: dict[str, Callable[[Any], Score]] = {"map": mean_average_precision, "ndcg": gain, "top": top}


def formula(metric: str, task: str | None) -> Score:
    """The formula of a metric, for the form of submission that the task asks for."""
    name, _, number = metric.partition("@")
    if name == "quantile":
        return quantile(float(number))
    if number:
        return WITH_NUMBER[name](int(number)) if task == "classes" else grouped_gain(int(number))
    return CLASSES[name] if task == "classes" else scores.SCORES[name]
