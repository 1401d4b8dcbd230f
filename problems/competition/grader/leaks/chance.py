"""How surely something tells the labels: what chance alone would seldom do, and what saves nearly all errors.

Both are asked for. What is sure but weak is a feature like others; what is strong by chance is an accident.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import exp, lgamma, log
from typing import Any

import numpy as np
import pandas as pd

from ..scoring.scores import rank_correlation

SURE = 1e-6
"""Probability below which nobody believes in chance."""
SAVED = 0.9
"""Part of the errors of a guess that has to be saved."""
RANKED = 0.95
"""Rank correlation, or probability that one of two rows is told to be the larger, from which numbers are told."""
MANY = 20
"""A target of more different numbers is one of numbers."""
FEWEST = 20
"""Changes from one class to another that chance must make before their absence says anything."""


def mentions_tell(counts: Any, labels: Any) -> bool:
    """True if how often each row is mentioned tells its label: a list of one class's ids, or of the large values.

    Args:
        counts: mentions of each row.
        labels: their labels as text.
    """
    told = {int(count): int((counts == count).sum()) for count in np.unique(counts)}
    if len(told) < 2:
        return False
    numbers = as_numbers(labels)
    return any(
        _parts(counts == count, numbers) if numbers is not None else _is_pure(counts == count, labels) for count in told
    )


def sequence_tells(labels: Any) -> bool:
    """True if rows are mentioned in the order of their labels: class after class, or from small to large."""
    numbers = as_numbers(labels)
    if numbers is not None:
        return len(labels) >= FEWEST and abs(rank_correlation(np.arange(len(labels)), numbers)) >= RANKED
    shares = pd.Series(labels).value_counts(normalize=True)
    by_chance = (len(labels) - 1) * (1 - float((shares**2).sum()))
    changes = sum(one != other for one, other in pairwise(labels))
    return by_chance >= FEWEST and changes <= (1 - SAVED) * by_chance


def is_no_accident(labels: Sequence[str]) -> bool:
    """True if these labels, dealt at random, would hardly ever lie as they do."""
    return _log_ways(labels) >= -log(SURE)


def as_numbers(labels: Any) -> Any:
    """The labels as numbers, if they are many different ones; else None: classes."""
    if len(set(labels)) <= MANY:
        return None
    numbers = pd.to_numeric(pd.Series(labels), errors="coerce").to_numpy(float)
    return None if np.isnan(numbers).any() else numbers


def _log_ways(labels: Sequence[str]) -> float:
    """Logarithm of how many orders of the labels differ."""
    return lgamma(len(labels) + 1) - sum(lgamma(count + 1) for count in Counter(labels).values())


def _is_pure(named: Any, labels: Any) -> bool:
    """True if nearly all named rows are of one class, more of them than chance would give."""
    usual, right = Counter(labels[named]).most_common(1)[0]
    count, of_class = int(named.sum()), int((labels == usual).sum())
    wrong, by_chance = count - right, count * (1 - of_class / len(labels))
    return wrong <= (1 - SAVED) * by_chance and _at_least(right, count, of_class, len(labels)) < SURE


def _at_least(right: int, drawn: int, marked: int, rows: int) -> float:
    """Probability of so many marked rows or more among those drawn (hypergeometric; Fisher's exact test)."""

    def ways(all_of: int, some: int) -> float:
        return lgamma(all_of + 1) - lgamma(some + 1) - lgamma(all_of - some + 1)

    most = min(drawn, marked)
    return sum(
        exp(ways(marked, k) + ways(rows - marked, drawn - k) - ways(rows, drawn))
        for k in range(max(right, drawn - (rows - marked)), most + 1)
    )


def _parts(named: Any, numbers: Any) -> bool:
    """True if named rows have the larger numbers, or the smaller ones (the test of Mann and Whitney)."""
    count, rest = int(named.sum()), int((~named).sum())
    ranks = pd.Series(numbers).rank().to_numpy()
    above = (ranks[named].sum() - count * (count + 1) / 2) / (count * rest)
    surprise = abs(above - 0.5) / ((count + rest + 1) / (12 * count * rest)) ** 0.5
    return bool(max(above, 1 - above) >= RANKED and surprise >= 5)
