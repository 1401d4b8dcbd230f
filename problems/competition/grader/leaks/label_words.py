"""Whether the words of a column are labels: equal, in the same order, or other words for the classes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property  # noqa: TID251 - one thread, and nothing of ours can be imported
from typing import Any

import numpy as np
import pandas as pd

from ..scoring.scores import rank_correlation
from .chance import SAVED

MANY_VALUES = 20
"""A target of more different numbers is recognised by its numbers alone."""
SIGNIFICANT = 4
"""Digits that a number needs to be no accident."""
ALIKE, RANKED = 0.5, 0.999
"""Equal numbers, and rank correlation, from which a column is the target's."""


class Words:
    """The words of a column. What is read of them is read once, for the whole column and all parts of it.

    Args:
        words: as `plain` writes them.
        whole, rows: the column of which these are some rows.
    """

    def __init__(self, words: Sequence[str], whole: Words | None = None, rows: Any = None) -> None:
        self._whole, self._rows = whole, rows
        self.words = np.empty(len(words), object)
        self.words[:] = words

    def __len__(self) -> int:
        return len(self.words)

    def at(self, rows: Any) -> Words:
        """Those rows of it, by their numbers."""
        return Words(self.words[rows], self, rows)

    @cached_property
    def numbers(self) -> Any:
        """Each word as a number; NaN where it is none."""
        if self._whole is not None:
            return self._whole.numbers[self._rows]
        return np.asarray(pd.to_numeric(pd.Series(self.words), errors="coerce"), float)

    @cached_property
    def codes(self) -> Any:
        """A number for each different word."""
        if self._whole is not None:
            return self._whole.codes[self._rows]
        return pd.factorize(self.words)[0]

    @cached_property
    def counts(self) -> Any:
        """How often each different word is there."""
        return np.unique(self.codes, return_counts=True)[1]


def is_label(values: Words, labels: Words) -> bool:
    """True if the values are the labels of the same rows."""
    if len(labels) < SIGNIFICANT:
        return False
    classes = labels.counts
    rest = len(labels) - classes.max()
    equal = np.count_nonzero(values.words == labels.words) / len(labels)
    if rest and equal == 1:
        return True
    if len(classes) > min(MANY_VALUES, len(labels) / SIGNIFICANT):
        return bool(equal > ALIKE) or _ranked_alike(values, labels)
    if len(values.counts) > max(2, 2 * len(classes)) or rest <= SIGNIFICANT:
        return False
    told, classified = (np.unique(words.codes, return_inverse=True)[1] for words in (values, labels))
    both = np.bincount(told * len(classes) + classified, minlength=len(values.counts) * len(classes))
    both = both.reshape(-1, len(classes))
    return bool(both.max(axis=1).sum() - classes.max() >= SAVED * rest)  # λ of Goodman and Kruskal


def _ranked_alike(values: Words, labels: Words) -> bool:
    there = ~(np.isnan(values.numbers) | np.isnan(labels.numbers))
    one, other = values.numbers[there], labels.numbers[there]
    if len(one) < SAVED * len(labels) or min(len(np.unique(one)), len(np.unique(other))) < MANY_VALUES:
        return False
    return bool(abs(rank_correlation(one, other)) >= RANKED)
