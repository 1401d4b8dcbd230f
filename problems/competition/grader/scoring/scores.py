"""Formulas of the metrics that a user may name (utils/metric_kinds.py has their directions), and bootstrap intervals.

Every function takes `(truth, predicted)`, two arrays of equal length, and returns a float. They agree with
scikit-learn's where it has them; they are plain NumPy, so that the grader starts fast and resampling is cheap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Score = Callable[[Any, Any], float]


class Undefined(ValueError):
    """The metric has no value on this data; the text says why."""


def mse(y: Any, p: Any) -> float:
    return float(np.mean((y - p) ** 2))


def rmse(y: Any, p: Any) -> float:
    return float(np.sqrt(mse(y, p)))


def rmsle(y: Any, p: Any) -> float:
    return rmse(np.log1p(y), np.log1p(p))


def mae(y: Any, p: Any) -> float:
    return float(np.mean(np.abs(y - p)))


def medae(y: Any, p: Any) -> float:
    return float(np.median(np.abs(y - p)))


def mape(y: Any, p: Any) -> float:
    return float(np.mean(np.abs(y - p) / np.maximum(np.abs(y), np.finfo(float).eps)))


def smape(y: Any, p: Any) -> float:
    """Percent, 0 to 200; a pair of zeros counts 0."""
    scale = np.abs(y) + np.abs(p)
    return float(200 * np.mean(np.divide(np.abs(y - p), scale, out=np.zeros(len(y)), where=scale > 0)))


def r2(y: Any, p: Any) -> float:
    total = np.sum((y - np.mean(y)) ** 2)
    if total == 0:
        raise Undefined("R² is undefined: all true values are equal")
    return float(1 - np.sum((y - p) ** 2) / total)


def rmspe(y: Any, p: Any) -> float:
    """A fraction of the true value; rows whose true value is 0 do not count, as in Kaggle's Rossmann."""
    there = y != 0
    if not there.any():
        raise Undefined("RMSPE is undefined: all true values are 0")
    return float(np.sqrt(np.mean(((y[there] - p[there]) / y[there]) ** 2)))


def pearson(y: Any, p: Any) -> float:
    """Constant predictions tell nothing and count 0."""
    if not np.ptp(y):  # less their mean they might differ by rounding
        raise Undefined("a correlation is undefined: all true values are equal")
    if not np.ptp(p):
        return 0.0
    y, p = _centred(y), _centred(p)
    scale = np.sqrt((y @ y) * (p @ p))
    return float(np.clip(y @ p / scale, -1, 1)) if scale else 0.0


def _centred(values: Any) -> Any:
    """Less their mean, the largest of size 1: of numbers near the smallest or largest there are the squares would be
    lost, and with them all that speaks against a prediction."""
    values = np.asarray(values, float)
    values = values / (np.abs(values).max() or 1.0)
    values = values - np.mean(values)
    return values / (np.abs(values).max() or 1.0)


def spearman(y: Any, p: Any) -> float:
    return pearson(_ranks(np.asarray(y)), _ranks(np.asarray(p)))


def rank_correlation(one: Any, other: Any) -> float:
    """Spearman's, of two columns of which neither is the truth: with one of equal values nothing runs (0)."""
    one = np.asarray(one)
    return spearman(one, other) if (one != one[:1]).any() else 0.0


def accuracy(y: Any, p: Any) -> float:
    return float(np.mean(y == p))


def error_rate(y: Any, p: Any) -> float:
    """The part of the rows whose class is wrong."""
    return float(np.mean(y != p))


def balanced_accuracy(y: Any, p: Any) -> float:
    found = _counts(y, p)
    there = found.rows > 0
    return float(np.mean(found.hits[there] / found.rows[there]))


@dataclass(frozen=True, slots=True)
class _Counts:
    """Of each class that is true or predicted somewhere: how often it is rightly predicted, is true, is predicted.

    Not the table of which class is taken for which: a program may predict a class of its own for each row.
    """

    hits: Any
    rows: Any
    columns: Any

    @property
    def f1(self) -> Any:
        return 2 * self.hits / (self.rows + self.columns)


def _counts(y: Any, p: Any) -> _Counts:
    codes = _codes(np.concatenate([y, p]))
    true, told = codes[: len(y)], codes[len(y) :]
    found = [np.bincount(one, minlength=codes.max() + 1).astype(float) for one in (true[true == told], true, told)]
    there = found[1] + found[2] > 0
    return _Counts(*(counts[there] for counts in found))


def _codes(labels: Any) -> Any:
    """A small whole number from 0 on for each label; labels that are such already need no sorting."""
    if labels.min() >= 0 and labels.max() < len(labels) and (labels == (codes := labels.astype(int))).all():
        return codes
    return np.unique(labels, return_inverse=True)[1]


def f1(y: Any, p: Any) -> float:
    """Of the class 1; `y` and `p` are 0/1. Which of two classes that is, `Scoring` knows: some rows may lack it."""
    if not np.any(y == 1):
        raise Undefined("F1 is undefined: no row of the positive class")
    hits, found, there = np.sum((y == 1) & (p == 1)), np.sum(p == 1), np.sum(y == 1)
    return float(2 * hits / (found + there))


def f1_macro(y: Any, p: Any) -> float:
    return float(np.mean(_counts(y, p).f1))


def f1_weighted(y: Any, p: Any) -> float:
    found = _counts(y, p)
    return float(np.average(found.f1, weights=found.rows))


def mcc(y: Any, p: Any) -> float:
    found, total = _counts(y, p), float(len(y))
    rows, columns = found.rows, found.columns
    scale = np.sqrt((total**2 - rows @ rows) * (total**2 - columns @ columns))
    return float((found.hits.sum() * total - rows @ columns) / scale) if scale else 0.0


def cohen_kappa(y: Any, p: Any) -> float:
    """Agreement beyond chance, every disagreement alike. Source: Cohen 1960."""
    found, total = _counts(y, p), float(len(y))
    chance = found.rows @ found.columns / total**2
    return float((found.hits.sum() / total - chance) / (1 - chance)) if chance < 1 else 1.0


def qwk(y: Any, p: Any) -> float:
    """Grades that are k apart disagree k² times as much, whether or not a row has those between them, as on Kaggle;
    scikit-learn counts only those that are there. Source: Cohen 1968."""
    apart = np.mean(y) - np.mean(p)
    y, p = np.asarray(y, float) - np.mean(y), np.asarray(p, float) - np.mean(p)
    by_chance = y @ y + p @ p + len(y) * apart**2  # of each grade with each that is told
    return float(2 * (y @ p) / by_chance) if by_chance else 1.0  # one grade for all rows is exactly 0


def _ranks(values: Any) -> Any:
    """Ranks from 1; ties share their mean rank."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    ends = np.r_[starts[1:], len(values)]
    ranks = np.empty(len(values))
    ranks[order] = np.repeat((starts + 1 + ends) / 2, ends - starts)
    return ranks


def auc(y: Any, p: Any) -> float:
    """Area under the ROC curve; `y` is 0/1, `p` any number that grows with the belief in 1."""
    positive = np.asarray(y) == 1
    ones, zeros = int(positive.sum()), int((~positive).sum())
    if not ones or not zeros:
        raise Undefined("AUC is undefined: only one class in these rows")
    return float((_ranks(np.asarray(p))[positive].sum() - ones * (ones + 1) / 2) / (ones * zeros))


def gini(y: Any, p: Any) -> float:
    """Normalised Gini coefficient: how near predictions come to the order of the true values, 1 for that order itself.

    Of two classes it is 2 AUC − 1. Equal predictions count as the mean over all their orders, where Kaggle's own
    takes that of the rows.
    """
    if not np.ptp(y):
        raise Undefined("Gini is undefined: all true values are equal")
    apart = np.asarray(y, float) - np.mean(y)
    return float(apart @ _ranks(np.asarray(p)) / (apart @ _ranks(np.asarray(y))))


def average_precision(y: Any, p: Any) -> float:
    order = np.argsort(-np.asarray(p), kind="stable")
    hits, scores = np.asarray(y)[order] == 1, np.asarray(p)[order]
    if not hits.any():
        raise Undefined("average precision is undefined: no positive row")
    last = np.flatnonzero(np.r_[scores[1:] != scores[:-1], True])
    true = np.cumsum(hits)[last]
    return float(np.sum(np.diff(np.r_[0, true]) * true / (last + 1)) / hits.sum())


def logloss(y: Any, p: Any) -> float:
    p = np.clip(np.asarray(p, float), 1e-15, 1 - 1e-15)
    return float(-np.mean(np.where(np.asarray(y) == 1, np.log(p), np.log1p(-p))))


def brier(y: Any, p: Any) -> float:
    return mse(np.asarray(y, float), np.asarray(p, float))


SCORES: dict[str, Score] = {
    f.__name__: f
    for f in (
        mse, rmse, rmsle, mae, medae, mape, smape, rmspe, r2, pearson, spearman, accuracy, error_rate,
        balanced_accuracy, f1, f1_macro, f1_weighted, mcc, cohen_kappa, qwk, auc, gini, average_precision, logloss,
        brier,
    )
}  # fmt: skip


DRAWS = 1000
"""Resamples of the rows for an interval."""


def resampled(
    score: Callable[[Any], float], units: Any, *, run: int = 1, draws: int = DRAWS, seed: int = 0
) -> list[float]:
    """`score(positions)` on `draws` resamples of whole units, NaN where it has no value.

    The resamples are the same for every program: draw by draw two programs are compared on the same rows.

    Args:
        units: of each row the number of its unit, from 0 on: rows of one unit are no independent evidence, and are
            drawn together.
        run: so many units in a row are drawn together, where neighbours are alike (moving blocks; Künsch 1989).
    """
    random, values = np.random.default_rng(seed), []
    order, sizes = np.argsort(units, kind="stable"), np.bincount(units)
    starts, count = np.cumsum(sizes) - sizes, len(sizes)
    for _ in range(draws):
        first = random.integers(0, count, -(-count // run))
        places = ((first[:, None] + np.arange(run)) % count).ravel()[:count]
        if count < len(order):  # of units of several rows all of these
            ends = np.cumsum(lengths := sizes[places])
            places = np.repeat(starts[places] - ends + lengths, lengths) + np.arange(ends[-1])
        try:
            values.append(float(score(order[places])))
        except Undefined:
            values.append(math.nan)
    return values
