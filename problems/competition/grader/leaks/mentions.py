"""Which hidden rows a text names, how often and in which order: a list of ids tells labels, and holds none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from .chance import mentions_tell, sequence_tells
from .known_words import Found

FEWEST = 4
"""Rows that must be named."""
SPELLED = 0.95
"""Part of the records that name a row and its class, and no other class, from which they tell it."""
_DIGITS = re.compile(r"(\d+)")


@dataclass(slots=True)
class Mentions:
    """Counts what names the hidden rows, however long the text is.

    Args:
        rows: what names a hidden row, and its position.
        ordered: true if something that programs see runs with the order of the rows.
    """

    rows: Mapping[str, int]
    ordered: bool
    counts: Counter[int] = field(default_factory=Counter)
    """Of each row, in the order of their first mention."""
    words: dict[int, str] = field(default_factory=dict)

    def read(self, text: str, found: Found) -> None:
        """Take in the next names.

        Args:
            text: where they stand.
        """
        if not len(found.places):
            return
        rows, first, counts = np.unique(found.places, return_index=True, return_counts=True)
        for one in np.argsort(first):
            at, row = first[one], int(rows[one])
            self.counts[row] += int(counts[one])
            if row not in self.words:
                self.words[row] = text[found.starts[at] : found.ends[at]]

    def tells(self, places: Sequence[int], labels: Any) -> bool:
        """True if these mentions, of `FEWEST` rows at least, tell the labels of the rows.

        Args:
            places: of all hidden rows.
            labels: their labels, as text.
        """
        counts = np.array([self.counts.get(at, 0) for at in places])
        if (
            mentions_tell(counts, labels)
            and not self._is_range(places)
            and not self._is_like_neighbours(counts, labels)
        ):
            return True
        label_of = dict(zip(places, labels, strict=True))
        return sequence_tells([label_of[at] for at in self.counts]) and not self._is_known_order()

    def _is_range(self, places: Sequence[int]) -> bool:
        """True if the named rows are those from one to another: numbers of a list, or the older half of the rows."""
        if self.ordered:
            first, last = min(self.counts), max(self.counts)
            if sum(first <= at <= last for at in places) == len(self.counts):
                return True
        numbers = {int(word) for word in self.words.values() if word.isdecimal()}
        if len(numbers) < len(self.words):
            return False
        between = {int(w) for w in self.rows if w.isdecimal() and min(numbers) <= int(w) <= max(numbers)}
        return between <= numbers

    def _is_like_neighbours(self, counts: Any, labels: Any) -> bool:
        """True if rows that are not named, beside those that are in an order that is known, are like them."""
        named, others = np.flatnonzero(counts), np.flatnonzero(counts == 0)
        if not self.ordered or len(others) < FEWEST:
            return False
        after = np.searchsorted(others, named).clip(max=len(others) - 1)
        before = (after - 1).clip(min=0)
        nearest = others[np.where(others[after] - named < named - others[before], after, before)]
        both = np.isin(np.arange(len(counts)), [*named, *nearest])
        return int(both.sum()) > len(named) * (1 + 1 / FEWEST) and mentions_tell(both.astype(int), labels)

    def _is_known_order(self) -> bool:
        """True if programs know this order: that of the names, or of the table where something runs with it."""
        words = list(self.words.values())
        return (self.ordered and _runs(list(self.counts))) or _runs(words) or _runs([_natural(word) for word in words])


def may_be_classes(labels: Mapping[int, str]) -> bool:
    """True if each label has some rows."""
    return 2 <= len(set(labels.values())) <= len(labels) / FEWEST


def records_tell(records: Iterable[set[str]], rows: Mapping[str, int], labels: Mapping[int, str]) -> bool:
    """True if records (a line, a name of a file) that each name a row hold the row's class, and no other class.

    Args:
        records: the words of each.
        labels: of each hidden row its class as text.
    """
    if not may_be_classes(labels):
        return False
    classes = set(labels.values())
    named = (({rows[word] for word in words - classes if word in rows}, words & classes) for words in records)
    found = [(labels[next(iter(places))], said) for places, said in named if len(places) == 1]
    right = Counter(label for label, said in found if said == {label})
    return len(right) > 1 and right.total() > 2 * FEWEST and right.total() >= SPELLED * len(found)


def _natural(word: str) -> list[tuple[int, str]]:
    """A key that sorts F9 before F10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(word) if part]


def _runs(keys: list[Any]) -> bool:
    up = sum(one <= other for one, other in pairwise(keys))
    return up in (0, len(keys) - 1)


def natural_order(values: Any) -> bool:
    """True if the texts are sorted, or sorted backwards, by their words and numbers."""
    return _runs([_natural(str(value)) for value in values])
