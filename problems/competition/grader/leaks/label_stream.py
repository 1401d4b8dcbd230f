"""Labels in the order of the rows, whatever stands between them: in one line, wrapped, without a blank, backwards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property  # noqa: TID251 - one thread, and nothing of ours can be imported
from typing import Protocol

import numpy as np

from ..tables.pieces import spread
from ..tables.table_forms import MARKS
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


@dataclass
class LabelStream:
    """The words of a text, as long as they may be as many as the rows."""

    texts: list[str] = field(default_factory=list)
    count: int = 0
    """Of the words in them."""
    full: bool = False

    def read(self, text: str, words: int) -> None:
        """Take in the next part of the text, in small letters, of so many words."""
        self.count += words
        self.full = self.full or self.count > MOST_WORDS
        self.texts = [] if self.full else [*self.texts, text]

    @cached_property
    def words(self) -> list[str]:
        return [word for text in self.texts for word in MARKS.split(text) if word]

    def tells(self, labels: Labels, hidden: Sequence[int]) -> bool:
        """True if some sequence in the text is that of the labels.

        Args:
            labels: of all rows, in the order of the training table.
            hidden: positions of the hidden rows.
        """
        shortest = min(len(labels), len(hidden) or len(labels))
        if sum(map(len, self.texts)) < shortest or sum(map(len, self.words)) < shortest:
            return False
        liked: list[list[str]] = []
        for places, least in ((range(len(labels)), len(labels)), (sorted(hidden), len(hidden))):
            if not least:
                continue
            for found in self._sequences(labels, least, liked):
                if least <= len(found) <= least + SLACK and _is_in(found, labels, places, set(hidden)):
                    return True
        return False

    def _sequences(self, labels: Labels, least: int, liked: list[list[str]]) -> Iterator[Sequence[str]]:
        """The words, those of them that are labels or numbers, and the letters of a word or of all words.

        Args:
            liked: holds the second once they were looked for.
        """
        words = self.words
        yield words
        if len(words) > least:
            if not liked:
                liked.append(self._like(labels))
            yield liked[0]
        yield max(words, key=len).strip(_SIGNS)
        if len(words) <= least + SLACK:
            yield "".join(words)

    def _like(self, labels: Labels) -> list[str]:
        some = {labels[at] for at in _few(len(labels))}
        is_number = len(some) > MANY
        like = {word for word in set(self.words) if (_NUMBER.fullmatch(word) if is_number else _bare(word) in some)}
        return [word for word in self.words if word in like]


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
