"""Labels in the order of the rows, whatever stands between them: in one line, wrapped, without a blank, backwards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ..tables.pieces import spread
from .chance import MANY, is_no_accident
from .label_words import Words, is_label

SLACK = 20
"""Words before and after the labels."""
MOST_WORDS = 2_000_000
"""Of a text; in a longer one no labels without a line of their own are looked for."""
MOST_CHECKED = 20_000
_NUMBER = re.compile(r"-?\d[\d.]*(e[-+]?\d+)?")
_SIGNS = "[](){}\"'"


class Labels(Protocol):
    """Labels as text, in the order of the rows."""

    def __len__(self) -> int: ...

    def __getitem__(self, place: int) -> str: ...


@dataclass(slots=True)
class LabelStream:
    """The words of a text, as long as they may be as many as the rows."""

    words: list[str] = field(default_factory=list)
    full: bool = False

    def read(self, words: Sequence[str]) -> None:
        """Take in the next words of the text."""
        self.full = self.full or len(self.words) + len(words) > MOST_WORDS
        self.words = [] if self.full else [*self.words, *(word for word in words if word)]

    def tells(self, labels: Labels, hidden: Sequence[int]) -> bool:
        """True if some sequence in the text is that of the labels.

        Args:
            labels: of all rows, in the order of the training table.
            hidden: positions of the hidden rows.
        """
        if sum(map(len, self.words)) < min(len(labels), len(hidden) or len(labels)):
            return False
        for places, least in ((range(len(labels)), len(labels)), (sorted(hidden), len(hidden))):
            if not least:
                continue
            for found in self._sequences(labels, least):
                if least <= len(found) <= least + SLACK and _is_in(found, labels, places, set(hidden)):
                    return True
        return False

    def _sequences(self, labels: Labels, least: int) -> Iterator[Sequence[str]]:
        """The words, those of them that are labels or numbers, and the letters of a word or of all words."""
        words = self.words
        yield words
        if len(words) > least:
            some = {labels[at] for at in _few(len(labels))}
            yield [word for word in words if (_NUMBER.fullmatch(word) if len(some) > MANY else _bare(word) in some)]
        yield max(words, key=len).strip(_SIGNS)
        if len(words) <= least + SLACK:
            yield "".join(words)


def _few(count: int) -> list[int]:
    """Places, spread over so many rows."""
    return list(map(int, spread(np.arange(count), MOST_CHECKED)))


def _bare(word: str) -> str:
    text = word.strip(_SIGNS)
    try:
        return f"{float(text):.12g}"
    except ValueError:
        return text


def _is_in(found: Sequence[str], labels: Labels, places: Sequence[int], hidden: set[int]) -> bool:
    """True if the sequence holds the labels of these rows, forwards or backwards, from any of its first words on."""
    count = len(places)
    some = _few(count)
    told = [labels[places[at]] for at in some]
    if not is_no_accident(told):
        return False
    away = [row for row, at in enumerate(some) if places[at] in hidden]
    known = Words(told)
    for start in range(len(found) - count + 1):
        for last in (0, count - 1):
            words = Words([_bare(found[start + abs(last - at)]) for at in some])
            if is_label(words.at(away), known.at(away)) and is_label(words, known):
                return True
    return False
