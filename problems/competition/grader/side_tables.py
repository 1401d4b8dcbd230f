"""Further tables beside those of a competition: which of their columns name rows of the tables to learn and to predict.
Told from their values, since a name alone may mean anything.

A table is read here as a program reads it: by `pandas.read_csv`, piece by piece, with what it is told of separators and
encodings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .survey import is_sample
from .tables.columns import listed
from .tables.exact import Unusable
from .tables.formats import TEXT, is_text, look_at
from .tables.pieces import spread
from .tables.shared_keys import Shared, shared_columns
from .tables.text_look import BLANKS
from .tables.times import format_to_tell

ENDINGS = (".csv", ".tsv", ".tab", ".parquet", ".feather", ".xlsx")
"""What a further table is called at its end."""
PACKED = (".gz", ".zip", ".bz2", ".xz")
MOST_TABLES = 20
"""That are looked into."""
PIECE = 200_000
MOST_ROWS = 20_000_000
"""Of a table, from which on nobody has the time to read it for every program."""
LOOKED_AT = 20_000
"""Rows of a piece that tell what its columns are."""
ONE = 1.01
"""Rows of a key, on average, up to which a table has one for each."""
COVERED, COVERED_BY_ID = 0.95, 0.02
"""Part of the rows that further key columns must leave found, and part that any key must find."""
AS_LIKELY = 0.5
"""Part of the rows to learn from that are found of which the rows to predict must be found."""
MOST_NAMES = 0.9
"""Part of the rows with a value of their own from which a column of words names them and says nothing else."""


@dataclass(frozen=True, slots=True)
class SideTables:
    """What was found.

    Args:
        tables: that programs can join, for `rules`: plain JSON.
        lines: for whoever writes programs, one for each.
        others: names of further tables that no column joins, and why where that is not plain.
    """

    tables: list[dict[str, Any]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    def told(self) -> str:
        """In one line; '' where there are no further tables."""
        names = [*(one["file"] for one in self.tables), *(name.partition(" (")[0] for name in self.others)]
        if not names:
            return ""
        joins = [f"{one['file']} by {_by(one)}{'' if one['one'] else ' (summed up)'}" for one in self.tables]
        reads = f"joins {listed(joins)}" if joins else "reads none of them"
        more = f", and reads none of {listed(self.others)}" if joins and self.others else ""
        return (
            f"further tables go along ({listed(sorted(names))}): programs see them, and the rules writer {reads}{more}"
        )


def side_tables(
    public: Path,
    rows: tuple[Any, Any],
    targets: set[str],
    invented: str | None,
    theirs: Any,
    known: set[str],
    preview: Any,
) -> SideTables:
    """Look at the further tables at the top of a folder.

    Args:
        rows: those to learn from and to predict, or many of them.
        targets: columns to be predicted: a table that has one is looked at no further.
        invented: the column of ids that we made, which names rows of no table of the user's.
        theirs: which of the rows to predict nobody scores: a table that ends before them says nothing of these.
        known: what the tables of the competition are called, without endings.
        preview: what tells kinds of columns.
    """
    found = SideTables()
    barred = {*targets, *filter(None, [invented])}
    shared = [str(name) for name in rows[0] if name in rows[1] and str(name) not in barred]
    mine = rows[0][shared], rows[1][shared]
    aims = {name.casefold() for name in targets}
    files = [path for path in sorted(public.iterdir()) if _may_be_one(path, known)]
    for path in files[:MOST_TABLES]:
        try:
            one = _Look(path, mine, aims, theirs, preview).found()
        except (Unusable, ValueError, OSError, LookupError, OverflowError, EOFError, TypeError, AttributeError):
            one = "cannot be read"  # the user's file, which may be anything
        if isinstance(one, str):
            found.others.append(f"{path.name} ({one})" if one else path.name)
        else:
            found.tables.append(one)
            found.lines.append(_line(one))
    found.others.extend(path.name for path in files[MOST_TABLES:])
    return found


def _may_be_one(path: Path, known: set[str]) -> bool:
    name = path.name.lower()
    bare = next((name.removesuffix(end) for end in PACKED if name.endswith(end)), name)
    stem = next((bare.removesuffix(end) for end in ENDINGS if bare.endswith(end)), None)
    return stem is not None and stem not in known and not is_sample(path) and path.is_file()


@dataclass(slots=True)
class _Look:
    path: Path
    rows: tuple[Any, Any]
    targets: set[str]
    theirs: Any
    preview: Any

    def found(self) -> dict[str, Any] | str:
        """What programs have to know to join the table; else why they cannot, '' for no reason."""
        how = _how_read(self.path)
        if how is None:
            return ""
        shared, samples, count = None, [], 0
        with pd.read_csv(self.path, chunksize=PIECE, low_memory=False, **how) as pieces:
            for piece in pieces:
                piece.columns = [str(name) for name in piece.columns]
                if shared is None:
                    if told := [str(name) for name in piece if str(name).casefold() in self.targets]:
                        return f"has a column {told[0]}"
                    shared = shared_columns(piece, self.rows, self.preview)
                    if not shared.pairs:
                        return ""
                shared.add(piece)
                samples.append(piece.iloc[spread(np.arange(len(piece)), LOOKED_AT)])
                count += len(piece)
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
        columns = self._columns(sample, {pair.side for pair in best.pairs})
        if not any(columns.values()) and each <= ONE:
            return "has no further column"
        return {
            "file": self.path.name, "how": how, "by": [pair.plain() for pair in best.pairs], "one": bool(each <= ONE),
            "rows": count, "used": best.used, "covers": [round(float(learned), 3), round(float(asked), 3)], **columns,
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


def _how_read(path: Path) -> dict[str, Any] | None:
    """What `pandas.read_csv` is told beside the path; None for a table that it alone does not read rightly."""
    look = look_at(path)
    plain = look.errors == "strict" and not (look.above or look.quoted or look.beyond) and look.mark != BLANKS
    if not is_text(look) or look.suffix not in TEXT or not plain:
        return None
    how: dict[str, Any] = {} if look.mark == "," else {"sep": look.sep}
    how |= {} if look.encoding in ("utf-8", "utf-8-sig") else {"encoding": look.encoding}
    how |= {} if look.decimal == "." else {"decimal": look.decimal}
    known = {"gzip": ".gz", "zip": ".zip", "bz2": ".bz2", "xz": ".xz"}.get(look.packed, "")
    infers = path.suffix if path.suffix in PACKED else ""
    return how | ({} if known == infers else {"compression": look.packed or None})


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


def _by(one: dict[str, Any]) -> str:
    return " and ".join(
        pair["side"] if pair["side"] == pair["mine"] else f"{pair['mine']} = {pair['side']}" for pair in one["by"]
    )


def _line(one: dict[str, Any]) -> str:
    """For prompts; names of columns alone, since some may hold no value."""
    each = "one row each" if one["one"] else "several rows each"
    return f"input/{one['file']} has rows for those of the tables to learn and to predict, by {_by(one)} ({each})"
