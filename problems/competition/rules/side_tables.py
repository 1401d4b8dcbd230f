"""Further tables that programs join: which ones there is time and memory for, and the columns that they become."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from utils.data_preview import in_line

READING = 1.5e-7
"""Seconds to read a cell of a further table, and to find its key."""
SUMMING = 4e-8
"""Seconds to sum up a cell of a row that is used, for each column that it becomes."""
SHARE = 4
"""Of the seconds of the longest program of a search, and of the memory of a program: one part so large for all tables.
"""
HELD = 25
"""Bytes that a cell of a row that is used takes."""
SUMMED = 100
"""Bytes that the sums of a column take for each key."""
MOST_NUMBERS, MOST_WORDS, MOST_DATES = 48, 8, 4
"""Columns of a table that are looked at."""
INNER = (8, 3, 1)
"""The same of a table that is joined to a further one."""
WAYS = (("mean", "min", "max", "sum"), ("mean", "max"), ("mean",))
"""How numbers of several rows become one: all ways that make at most MOST_NUMBERS columns."""
LAST = 24
"""Numbers of a table up to which those of its last row are told, too."""
SHARES = 3
"""Frequent words of which the part among a key's rows is told."""
OF_DATE = 4
"""Columns that a date becomes at most."""


@dataclass(frozen=True, slots=True)
class SideTable:
    """A further table whose rows a key names.

    Args:
        file: in `input/`.
        how: what `pandas.read_csv` is told beside it; `parquet` where `pandas.read_parquet` reads it, `json` and
            `lines` where `pandas.read_json` does.
        by: columns that name its rows, as `grader/shared_keys.py` tells them: ours, its own, how both are made alike,
            and how dates in them are written.
        one: True if it has one row for each key, not several.
        rows: of it, and `used` those that a key of ours names.
        numbers, words, dates: its columns; dates with how they are written, where pandas has to be told.
        prefix: what the columns that they become begin with.
        inner: tables whose rows a key of this one names.
        also: other columns of ours that name its rows, too: it is joined once more for each.
        names: different keys of ours that it has.
        in_pieces: true where its rows have no room in memory: they are summed up as they are read.
        links: columns of a table with one row each that name rows of others.
        needs: the table whose columns name rows of this one, beside ours.
    """

    file: str
    how: Mapping[str, Any]
    by: tuple[tuple[str, str, str, str, str], ...]
    one: bool
    rows: int
    used: int
    numbers: tuple[str, ...]
    words: tuple[str, ...]
    dates: tuple[tuple[str, str], ...]
    prefix: str
    inner: tuple[SideTable, ...] = ()
    also: tuple[tuple[tuple[str, str, str, str, str], ...], ...] = ()
    names: int = 0
    in_pieces: bool = False
    links: tuple[str, ...] = ()
    needs: str = ""

    @property
    def ways(self) -> tuple[str, ...]:
        numbers = len(self.numbers) + sum(table.told for table in self.inner)
        return next((ways for ways in WAYS if len(ways) * numbers <= MOST_NUMBERS), WAYS[-1])

    @property
    def told(self) -> int:
        """Columns that it becomes beside those of the table that it is joined to."""
        return self.width if self.one else 1 + len(self.numbers) + (SHARES + 2) * len(self.words) + 2 * len(self.dates)

    @property
    def tells_last(self) -> bool:
        return bool(self.dates) and len(self.numbers) <= LAST and not self.in_pieces

    @property
    def each(self) -> tuple[SideTable, ...]:
        """The table for each key that it is joined by."""
        others = ((by, re.sub(r"\W+", "_", by[0][0])) for by in self.also)
        return (
            replace(self, also=()),
            *(replace(self, by=by, also=(), links=(), prefix=f"{self.prefix}{name}_") for by, name in others),
        )

    @property
    def width(self) -> int:
        """Columns that it becomes."""
        return self._width * (1 + len(self.also))

    @property
    def _width(self) -> int:
        if self.one:
            return (
                sum(table.told for table in self.inner)
                + len(self.numbers)
                + len(self.words)
                + OF_DATE * len(self.dates)
            )
        words = (SHARES + 2 + self.tells_last) * len(self.words)
        numbers = (len(self.ways) + self.tells_last) * (len(self.numbers) + sum(table.told for table in self.inner))
        return 1 + numbers + words + OF_DATE * len(self.dates)

    @property
    def seconds(self) -> float:
        """To read and to join it, about."""
        cells = self.rows * (len(self.by) + len(self.numbers) + len(self.words) + len(self.dates))
        inner = sum(table.seconds for table in self.inner)
        once = 0.05 + READING * cells + SUMMING * self.used * (1 if self.one else self._width) + inner
        return once * (1 + len(self.also))

    @property
    def megabytes(self) -> float:
        """That it takes, about, beside the piece that is read."""
        width = 1 + len(self.numbers) + len(self.words) + len(self.dates)
        if self.in_pieces:
            return SUMMED * self.names * (width + SHARES * len(self.words)) / 2**20
        own = HELD * self.used * (width + sum(table.told for table in self.inner)) / 2**20
        whole = 8 * self.rows * width / 2**20 if self.is_whole else 0  # not read in pieces
        return own + whole + sum(table.megabytes for table in self.inner)

    @property
    def can_be_summed(self) -> bool:
        return not (self.one or self.is_whole or self.in_pieces)

    @property
    def is_whole(self) -> bool:
        """True where no part of it can be read by itself."""
        return bool(self.how.keys() & {"parquet", "json"})

    @property
    def about(self) -> str:
        told = "what" if self.one else "what all rows of"
        keys = " and ".join(mine for by in (self.by, *self.also) for mine, *_ in by)
        return in_line(f"{told} {self.file} {'tells' if self.one else 'tell'} of {keys}")


def side_tables(data: Mapping[str, Any], longest: float, memory_mb: float) -> tuple[SideTable, ...]:
    """From the data of `Problem.prompt_extras()`: the quickest that have time and room together.

    Args:
        longest: seconds of the longest program of the search.
        memory_mb: of a program.
    """
    taken = [column["name"] for column in data.get("columns", [])]
    found: list[SideTable] = []
    for one in data.get("side_tables") or ():
        found.append(_table(one, [*taken, *(other.prefix for other in found)]))
    seconds, room = longest / SHARE, memory_mb / SHARE
    found = [_with_room(table, room) for table in found]
    kept: set[str] = set()
    for table in sorted(found, key=lambda table: table.seconds):
        seconds, room = seconds - table.seconds, room - table.megabytes
        if seconds < 0 or room < 0:
            break
        kept.add(table.file)
    return tuple(table for table in found if table.file in kept and (not table.needs or table.needs in kept))


def _with_room(table: SideTable, room: float) -> SideTable:
    """The table, or what is larger than its room in pieces: first the largest that is joined to it, at last itself."""
    for inner in sorted(table.inner, key=lambda inner: -inner.megabytes):
        if table.megabytes > room and inner.can_be_summed:
            kept = [replace(one, in_pieces=True) if one is inner else one for one in table.inner]
            table = replace(table, inner=tuple(kept))
    if table.megabytes > room and table.can_be_summed:
        table = replace(table, in_pieces=True, inner=())
    return table


def _table(
    one: Mapping[str, Any], taken: Iterable[str], most: tuple[int, int, int] = (MOST_NUMBERS, MOST_WORDS, MOST_DATES)
) -> SideTable:
    stem = re.sub(r"\W+", "_", str(one["file"]).partition(".")[0])
    return SideTable(
        file=str(one["file"]),
        how=dict(one["how"]),
        by=_pairs(one["by"]),
        also=tuple(_pairs(by) for by in one.get("also", ())),
        one=bool(one["one"]),
        rows=int(one["rows"]),
        used=int(one["used"]),
        numbers=tuple(one["numbers"][: most[0]]),
        words=tuple(one["words"][: most[1]]),
        dates=tuple((name, form) for name, form in one["dates"][: most[2]]),
        prefix=_untaken(f"{stem}_", taken),
        inner=tuple(_table(within, (), INNER) for within in one["inner"]),
        names=int(one.get("names", one["used"])),
        links=tuple(one.get("links", ())),
        needs=str(one.get("needs", "")),
    )


def _pairs(by: Iterable[Mapping[str, str]]) -> tuple[tuple[str, str, str, str, str], ...]:
    return tuple((pair["mine"], pair["side"], pair["way"], pair["mine_form"], pair["side_form"]) for pair in by)


def _untaken(name: str, taken: Iterable[str]) -> str:
    while any(other.startswith(name) for other in taken):
        name += "_"
    return name
