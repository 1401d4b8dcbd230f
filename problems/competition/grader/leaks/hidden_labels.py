"""Recognises hidden labels in a text, whatever the file is called and however it is laid out.

Three things tell them: a table with a column of the target's name; many of the label's values, more than of numbers
beside them (labels are found by chance where a text holds all numbers of a range); and a column that runs with the
labels, over rows that an id or another value names, or over all rows in the order of the training table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from ..tables.exact import Unusable
from ..tables.pieces import spread
from ..tables.table_forms import FIELDS, HEAD_ROWS, MARKS, has_head, plain
from ..tables.times import as_time
from .known_words import KnownWords
from .label_stream import LabelStream
from .label_words import MANY_VALUES, SIGNIFICANT, Words, is_label
from .mentions import FEWEST, Mentions, may_be_classes, natural_order, records_tell
from .named_lines import SPLITS, Looked, Piece

SHARE = 0.2
"""Part of the hidden labels, or of the hidden rows, from which a file tells them."""
MOST_ROWS = 500
"""Hidden rows that are enough in any piece of a long text, however many there are."""
MOST_NAMED = 20_000
"""Hidden rows whose names and labels are looked for."""
MOST_RECORDS = 100_000
"""Lines that are looked through for a row's name beside its class."""
_NUMBER = re.compile(r"(?<![\w.])-?\d[\d.]*(?:[eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"(?<![\w.])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"(?<![\w.])-?\d[\d.]*,\d+")


@dataclass(frozen=True, slots=True)
class Plain:
    """Labels as they are compared; each is written out when it is asked for."""

    values: Any

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: int) -> str:
        return plain(self.values[place])


@dataclass(frozen=True, slots=True)
class HiddenLabels:
    """What must not be told.

    Args:
        targets: names of the labels' columns.
        labels: the labels of all rows, in the order of the training table, for each target.
        hidden: positions of the hidden rows.
        rows: what names a hidden row, in every spelling, and its position.
        values: each distinct hidden label that is no accident, in every spelling.
        decoys: numbers beside them that are no labels, in every spelling.
        least: characters below which a text cannot hold enough of them.
        known: part of the hidden rows that this knows of.
        ordered: true if something that programs see runs with the order of the training table.
        looked: how much of long texts was compared with them.
        names: `rows`, as they are looked up in long texts.
    """

    targets: list[str]
    labels: list[Plain]
    hidden: list[int]
    rows: dict[str, int]
    values: dict[str, str]
    decoys: dict[str, str]
    least: int
    known: float = 1.0
    ordered: bool = False
    looked: Looked = field(default_factory=Looked)
    names: KnownWords = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", KnownWords(self.rows))

    @classmethod
    def of(
        cls, rows: Any, hidden: Any, targets: list[str], labels: Any = None, *, numbered: bool = False
    ) -> HiddenLabels:
        """Of a table, or of rows of it, and the mask of those that are hidden.

        Args:
            labels: the targets of the whole table, where `rows` are only some of it, by their index.
            numbered: other files may name a row by its number, from 0.
        """
        labels = rows if labels is None else labels
        away = rows[hidden].iloc[spread(np.arange(int(hidden.sum())), MOST_NAMED)]
        places = labels.index.get_indexer(away.index).tolist()
        values = dict(_spellings({text for name in targets for text in _telling(away[name])}))
        known = set(values.values())
        decoys = dict(_spellings({near for text in known for near in _beside(text)} - known))
        named: dict[str, int] = {}
        for name in rows.columns.difference(targets, sort=False):
            named |= {
                text: place
                for text, place in _names(away[name], ~rows[name].duplicated(keep=False), places)
                if text not in named
            }
        for place in places if numbered else ():
            named.setdefault(str(place), place)
            named.setdefault(f"{place}.0", place)
        written = [Plain(labels[name].to_numpy(object)) for name in targets]
        part = len(places) / max(1, int(hidden.sum()))
        least = int(2 * SHARE * min(len(places), MOST_ROWS))
        ordered = any(_is_ordered(away[name]) for name in away.columns.difference(targets, sort=False))
        return cls(targets, written, places, named, values, decoys, least, part, ordered)

    def search(self) -> Search:
        return Search(self)


@dataclass(slots=True)
class Search:
    """Looks through one file, piece by piece."""

    labels: HiddenLabels
    seen: set[str] = field(default_factory=set)
    """Labels found in pieces so far."""
    decoys: set[str] = field(default_factory=set)
    started: bool = False
    mentions: tuple[Mentions, ...] = ()
    stream: LabelStream = field(default_factory=LabelStream)

    def __post_init__(self) -> None:
        self.mentions = tuple(Mentions(self.labels.rows, self.labels.ordered) for _ in SPLITS)

    def tells(self, text: str) -> bool:
        """True if this piece, with those before it, tells hidden labels.

        Args:
            text: whole lines.
        """
        known, piece = self.labels, Piece(text, self.labels.names, self.labels.looked)
        aims = [target for target in known.targets if target.casefold() in piece.small]
        named = any(has_head(target, text, first=not self.started) for target in aims)
        self.started = True
        if named:
            return True
        for mentions, found in zip(self.mentions, piece.found, strict=True):
            mentions.read(piece.small, found)
        self.stream.read(piece.small, piece.found[0].words)
        long = len(text) >= known.least
        return long and (self._has_values(text) or self._has_column(piece) or self._says(piece))

    def ends(self) -> bool:
        """True if the whole file, which ends here, tells hidden labels."""
        known = self.labels
        some = [mentions for mentions in self.mentions if len(mentions.counts) >= FEWEST]
        of_each = [np.array([labels[at] for at in known.hidden], object) for labels in known.labels if some]
        if any(mentions.tells(known.hidden, labels) for mentions in some for labels in of_each):
            return True
        hidden = known.hidden if known.known == 1 else []
        return any(self.stream.tells(labels, hidden) for labels in known.labels)

    def _says(self, piece: Piece) -> bool:
        """True if lines name a row and its class."""
        if not piece.named:
            return False
        records = None
        for each in self.labels.labels:
            classes = {at: each[at] for at in self.labels.hidden}
            if may_be_classes(classes):
                records = records or [
                    {word.casefold() for word in MARKS.split(line)} for line in piece.lines(MOST_RECORDS)
                ]
                if records_tell(records, self.labels.rows, classes):
                    return True
        return False

    def _has_values(self, text: str) -> bool:
        values, decoys = self.labels.values, self.labels.decoys
        if not values:
            return False
        numbers = set(_NUMBER.findall(text))
        if "," in text:
            numbers |= {number.replace(",", "") for number in _THOUSANDS.findall(text)}
            numbers |= {number.replace(".", "").replace(",", ".") for number in _DECIMAL_COMMA.findall(text)}
        self.seen |= {values[number] for number in numbers & values.keys()}
        self.decoys |= {decoys[number] for number in numbers & decoys.keys()}
        found = len(self.seen) / len(set(values.values()))
        chance = len(self.decoys) / max(1, len(set(decoys.values())))
        return len(self.seen) >= SIGNIFICANT and found - chance > SHARE * (1 - chance)

    def _has_column(self, piece: Piece) -> bool:
        count, text = len(self.labels.labels[0]), piece.text
        long = [line for line in piece.head(2 * HEAD_ROWS) if len(line) > count]
        in_order = count <= text.count("\n") + 1 <= count + 2 * HEAD_ROWS or any(
            len(FIELDS.split(line)) >= count for line in long
        )
        if not in_order and piece.named < self._enough():
            return False
        return any(self._runs_along(columns) for columns in piece.grids(whole=in_order))

    def _enough(self) -> int:
        return max(SIGNIFICANT, int(SHARE * self.labels.known * min(len(self.labels.hidden), MOST_ROWS)))

    def _runs_along(self, columns: list[list[str]]) -> bool:
        """True if some column runs with the labels, by a column of names or by the order of its rows."""
        known, enough = self.labels, self._enough()
        places = [[known.rows.get(value) for value in column] for column in columns]
        orders = [place for place in places if len(set(place) - {None}) >= enough]
        count, length = len(known.labels[0]), len(columns[0]) if columns else 0
        if count <= length <= count + 2 * HEAD_ROWS:
            orders += [[None] * (length - count) + way for way in (list(range(count)), list(range(count))[::-1])]
        words = [Words(column) for column in columns]
        for place, labels in product(orders, known.labels):
            rows = [row for row, at in enumerate(place) if at is not None]
            told = Words([labels[at] for at in place if at is not None])
            if any(is_label(w.at(rows), told) for w, other in zip(words, places, strict=True) if other is not place):
                return True
        return False


def _telling(labels: Any) -> Iterator[str]:
    """Distinct labels of a target of many numbers, those that are no accident."""
    if not pd.api.types.is_numeric_dtype(labels) or labels.nunique() <= MANY_VALUES:
        return
    for value in labels.unique():
        text = repr(float(value)).removesuffix(".0")
        if _is_long(text):
            yield text


def _is_long(number: str) -> bool:
    return len(number.partition("e")[0].lstrip("-").replace(".", "").lstrip("0")) >= SIGNIFICANT


def _spellings(numbers: set[str]) -> Iterator[tuple[str, str]]:
    for number in numbers:
        value = float(number)
        decimals = len(number.partition(".")[2])
        yield number, number
        for text in (f"{value:.12g}", *(f"{value:.{count}f}" for count in range(decimals, 7))):
            yield text, number


def _beside(number: str) -> Iterator[str]:
    """The number with its last digit that is not 0 changed by 1."""
    at = max((i for i, digit in enumerate(number) if digit in "123456789"), default=None)
    if at is not None and "e" not in number:
        for digit in (int(number[at]) + 1, int(number[at]) - 1):
            if 0 < digit <= 9:
                yield f"{number[:at]}{digit}{number[at + 1 :]}"


def _names(values: Any, alone: Any, places: list[int]) -> Iterator[tuple[str, int]]:
    """Spellings of the values that name a row: an id, a measure that no other row has.

    Args:
        alone: of every row, whether no other has its value.
    """
    names = alone.loc[values.index].to_numpy() & values.notna().to_numpy()
    for value, place, names_row in zip(values, places, names, strict=True):
        if names_row:
            text_of = plain(value)
            for text in dict.fromkeys((text_of, str(value).strip().casefold(), f"{text_of}.0")):
                if text:
                    yield text, place


def _is_ordered(values: Any) -> bool:
    """True if a column runs with the order of its rows: a number, a date, a name with a number."""
    there = values.dropna()
    if len(there) < SIGNIFICANT or len(there) < len(values) or there.nunique() < SIGNIFICANT:
        return False
    if pd.api.types.is_numeric_dtype(there):
        return bool(there.is_monotonic_increasing or there.is_monotonic_decreasing)
    if natural_order(there):
        return True
    try:
        times = pd.Series(as_time(there.astype(str)))
    except Unusable:
        return False
    return bool(times.is_monotonic_increasing or times.is_monotonic_decreasing)
