"""A further table, read as a program reads it: which of its columns name rows of ours, and what its others hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .tables.pieces import spread
from .tables.plain_reading import how_read, pieces_of
from .tables.shared_keys import OTHERWISE_CALLED, OwnColumns, Shared, shared_columns
from .tables.times import format_to_tell

MOST_ROWS = 20_000_000
"""Of a table, from which on nobody has the time to read it for every program."""
LOOKED_AT = 20_000
"""Rows of a piece that tell what its columns are; a tenth of them behind the first pieces of a long table."""
FIRST_PIECES = 8
ONE = 1.01
"""Rows of a key, on average, up to which a table has one for each."""
COVERED, COVERED_BY_ID = 0.95, 0.02
"""Part of the rows that further key columns must leave found, and part that any key must find."""
AS_LIKELY = 0.5
"""Part of the rows to learn from that are found of which the rows to predict must be found."""
MOST_ALSO = 3
"""Further columns of ours by which a table is joined once more."""
MOST_NAMES = 0.9
"""Part of the rows with a value of their own from which a column of words names them and says nothing else."""


@dataclass(slots=True)
class Look:
    """What is looked at.

    Args:
        name: what it is called below the folder.
        own: columns of ours that may be keys.
        targets: columns to be predicted, in small letters: a table that has one is looked at no further.
        theirs: which of the rows to predict nobody scores.
        preview: what tells kinds of columns.
        now: is told time and again how many rows are read.
    """

    path: Path
    name: str
    own: OwnColumns
    targets: set[str]
    theirs: Any
    preview: Any
    now: Callable[[int], None] = lambda rows: None

    def found(self) -> dict[str, Any] | str:
        """What programs have to know to join the table; else why they cannot, '' for no reason."""
        how = how_read(self.path)
        if how is None:
            return ""
        samples: list[Any] = []
        shared, count = None, 0
        for piece in pieces_of(self.path, how):
            piece = piece.set_axis([str(name) for name in piece], axis=1)
            if shared is None:
                if told := [str(name) for name in piece if str(name).casefold() in self.targets]:
                    return f"has a column {told[0]}"
                shared = shared_columns(piece, self.own)
                if not shared.pairs:
                    return ""
            shared.add(piece)
            most = LOOKED_AT if len(samples) < FIRST_PIECES else LOOKED_AT // 10
            samples.append(piece.iloc[spread(np.arange(len(piece)), most)])
            count += len(piece)
            self.now(count)
            if count > MOST_ROWS:
                return "too large"
        if shared is None or count == 0:
            return "empty"
        return self._described(shared, pd.concat(samples, ignore_index=True), count, how)

    def _described(self, shared: Shared, sample: Any, count: int, how: dict[str, Any]) -> dict[str, Any] | str:
        best = _key(shared)
        if best is None:
            return ""
        learned, asked, each = best.of_rows[0].mean(), best.of_rows[1].mean(), best.each
        if asked < AS_LIKELY * learned:
            return "has hardly any of the rows to predict"
        if self.theirs.any() and best.of_rows[1][self.theirs].mean() < AS_LIKELY * learned:
            return "has hardly any of the rows of your test"
        columns = self._columns(sample, {pair.side for pair in best.pairs} | _agreeing(shared, best))
        if not any(columns.values()) and each <= ONE:
            return "has no further column"
        return {
            "file": self.name, "how": how, "by": [pair.plain() for pair in best.pairs], "one": bool(each <= ONE),
            "rows": count, "used": best.used, "names": best.names, "inner": [],
            "also": [[pair.plain()] for pair in _others(shared, best)],
            "covers": [round(float(learned), 3), round(float(asked), 3)], **columns,
        }  # fmt: skip

    def _columns(self, sample: Any, keys: set[str]) -> dict[str, Any]:
        """Names of its columns of numbers and of words, and those of dates with how they are written."""
        found: dict[str, Any] = {"numbers": [], "words": [], "dates": []}
        for column in self.preview.profile(sample[[name for name in sample if name not in keys]]):
            name, kind = column["name"], column["kind"]
            if kind == "date" or (kind == "number" and is_day_number(sample[name])):
                form = "%Y%m%d" if kind == "number" else format_to_tell(sample[name])
                found["dates"].append([name, form])
            elif kind == "number" and not _is_mere_name(column, len(sample)):
                found["numbers"].append(name)
            elif kind == "category" and column["unique"] <= max(MOST_NAMES * len(sample), 2):
                found["words"].append(name)
        return found


@dataclass(frozen=True, slots=True)
class _Key:
    """Columns that name rows of both tables.

    Args:
        of_rows: which rows to learn from and to predict are found.
        each: rows of the further table that a key has, on average.
        names: different keys that are found.
        used: rows of the further table that are found.
    """

    pairs: tuple[Any, ...]
    of_rows: tuple[Any, Any]
    each: float
    names: int
    used: int

    @property
    def least(self) -> float:
        return float(min(of_table.mean() for of_table in self.of_rows))


def _key(shared: Shared) -> _Key | None:
    """The columns that tell most: the one that finds many rows by the most different values, and those that tell these
    rows further apart and lose none of them."""
    keys = [_Key((pair,), *shared.found((pair,))) for pair in shared.pairs]
    keys = [key for key in keys if key.names >= 2 and key.least >= key.pairs[0].must_cover(COVERED_BY_ID)]
    if not keys:
        return None
    widest = max(key.least for key in keys)
    best = max((key for key in keys if key.least >= widest / 2), key=lambda key: (key.names, key.least))
    for other in sorted(keys, key=lambda key: -key.names):
        taken = {name for pair in best.pairs for name in (pair.mine, pair.side)}
        if best.each <= ONE or taken & {other.pairs[0].mine, other.pairs[0].side} or not other.pairs[0].same:
            continue
        both = _Key((*best.pairs, *other.pairs), *shared.found((*best.pairs, *other.pairs)))
        if both.least >= COVERED * best.least and both.names > best.names:
            best = both
    return best


def _others(shared: Shared, best: _Key) -> list[Any]:
    """Further columns of ours that the same column of the table names, as the airports of departure and arrival are."""
    if len(best.pairs) > 1:
        return []
    others = [pair for pair in shared.pairs if pair not in best.pairs and pair.side == best.pairs[0].side]
    keys = [_Key((pair,), *shared.found((pair,))) for pair in others]
    found = [key for key in keys if key.names >= 2 and key.least >= OTHERWISE_CALLED]
    return [key.pairs[0] for key in sorted(found, key=lambda key: (-key.least, key.pairs[0].mine))][:MOST_ALSO]


def _agreeing(shared: Shared, best: _Key) -> set[str]:
    """Columns of the further table that say what a column of the same name says."""
    others = [pair for pair in shared.pairs if pair.same and pair not in best.pairs]
    found = [(pair, _Key((*best.pairs, pair), *shared.found((*best.pairs, pair)))) for pair in others]
    return {pair.side for pair, both in found if both.least >= COVERED * best.least}


def is_day_number(values: Any) -> bool:
    """True for days that are written as one number: 20170301."""
    there = pd.to_numeric(values, errors="coerce").dropna().iloc[:LOOKED_AT]
    if len(there) == 0 or not (there % 1 == 0).all() or not there.between(19000101, 21001231).mean() > 0.99:
        return False
    return bool(
        pd.to_datetime(there.astype("int64").astype(str), format="%Y%m%d", errors="coerce").notna().mean() > 0.99
    )


def _is_mere_name(column: dict[str, Any], rows: int) -> bool:
    """True for numbers that name rows: whole, of many values, and called an id."""
    words = str(column["name"]).lower().replace("-", "_").split("_")
    called = "id" in words or words[-1].endswith("id") or "sk" in words
    return bool(column.get("whole") and called and column["unique"] > max(50, 0.05 * rows))
