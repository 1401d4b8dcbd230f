"""What a piece of a text says of the hidden rows: which of its words name some, and which of its lines are compared
with their labels.

All words are looked up, however long the text is. Lines are taken apart one by one: of a long text those that name a
row, and of these so many for each place in a line at which names stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property  # noqa: TID251 - one thread, and nothing of ours can be imported
from typing import Any

import numpy as np

from ..tables.pieces import spread
from ..tables.table_forms import FIELDS, MARKS, grids
from .known_words import Found, KnownWords, Marks, codes_of

LONG = 20_000
"""Characters from which words are looked up by hashes, and lines chosen."""
MOST_LINES, MOST_OF_PLACE = 20_000, 2_000
"""Lines of a piece that are compared with labels, and those for one place in a line at which names stand."""
MOST_PLACES = 1000
"""Places in a line that are told apart."""
FEWEST_LINES = 200
"""Of a piece of which not all lines are compared."""
MOST_BROKEN = 0.5
"""Part of the lines that may hold half of a quoted cell: where more do, the piece is read whole."""
SPLITS = MARKS, FIELDS
WAYS = Marks(",;|:=\"'<>{}()[]", blanks=True), Marks(',;|\t\n"<>', blanks=False)
"""`SPLITS`, sign by sign."""


@dataclass(slots=True)
class Looked:
    """Lines of long texts that named hidden rows, and how many of them were compared with labels."""

    named: int = 0
    compared: int = 0


class Piece:
    """Whole lines of a text.

    Args:
        text: as it stands.
        names: what names a hidden row.
        looked: counts the lines.
    """

    def __init__(self, text: str, names: KnownWords, looked: Looked) -> None:
        self.text, self.small = text, text.casefold()
        self._names, self._looked = names, looked

    @cached_property
    def found(self) -> list[Found]:
        """The names in it, for each of the `SPLITS`."""
        if len(self.small) >= LONG:
            return self._names.found(self.small, WAYS)
        return [self._names.found_in_short(self.small, split) for split in SPLITS]

    @cached_property
    def named(self) -> int:
        """How many different rows it names."""
        return len(np.unique(np.concatenate([found.places for found in self.found])))

    def head(self, count: int) -> list[str]:
        """Its first lines."""
        return "\n".join(self.text.split("\n", count)[:count]).splitlines()[:count]

    def lines(self, most: int) -> list[str]:
        """Those that are compared, so many of them."""
        return self.text.split("\n", most)[:most] if self._chosen is None else self._chosen

    def grids(self, *, whole: bool) -> Iterator[list[list[str]]]:
        """As tables.

        Args:
            whole: all lines count, also those that name no row.
        """
        if whole or self._chosen is None:
            return grids(self.text)
        return grids(self.text, self._part)

    def _part(self, mark: str) -> list[str]:
        return self._chosen or [] if mark == "\n" else self._records(mark)[0]

    @cached_property
    def _chosen(self) -> list[str] | None:
        """Lines that name rows; None where others may say something of these, as in a table that lies."""
        count = self.text.count("\n") + 1
        if len(self.small) < LONG or count < FEWEST_LINES or count * count < 2 * len(self._marks):
            return None
        lines, named = self._records("\n")
        whole = [line for line in lines if line.count('"') % 2 == 0]
        if len(whole) < (1 - MOST_BROKEN) * len(lines):
            return None
        self._looked.named += named
        self._looked.compared += len(whole)
        return whole

    @cached_property
    def _marks(self) -> Any:
        """Where marks stand."""
        return WAYS[0].places(codes_of(self.small))

    def _records(self, mark: str) -> tuple[list[str], int]:
        """Parts of the text between marks that name rows, those that are compared, and how many there are."""
        ends = np.array([*(match.start() for match in re.finditer(re.escape(mark), self.small)), len(self.small)])
        begins = np.concatenate([[0], ends[:-1] + len(mark)])
        named, chosen = np.zeros(len(ends), bool), np.zeros(len(ends), bool)
        for found in self.found:
            records = np.searchsorted(ends, found.starts)
            named[records] = True
            places = np.searchsorted(self._marks, found.starts) - np.searchsorted(self._marks, begins[records])
            for place in np.unique(places.clip(max=MOST_PLACES)):
                at = records[places.clip(max=MOST_PLACES) == place]
                chosen[spread(np.unique(at), MOST_OF_PLACE)] = True
        some = spread(np.flatnonzero(chosen), MOST_LINES)
        return [self.small[begin:end] for begin, end in zip(begins[some], ends[some], strict=True)], int(named.sum())
