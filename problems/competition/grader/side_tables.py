"""Further tables beside those of a competition: which of their columns name rows of the tables to learn and to predict.
Told from their values, since a name alone may mean anything.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .linked_tables import MOST_ROWS as MOST_OUTER
from .linked_tables import UNREAD as _UNREAD
from .linked_tables import with_links
from .side_look import Look
from .survey import is_sample
from .tables.columns import listed
from .tables.counts import counted
from .tables.plain_reading import PACKED, names_of, rows_of
from .tables.progress import EachSecond
from .tables.shared_keys import OwnColumns

ENDINGS = (".csv", ".tsv", ".tab", ".parquet", ".feather", ".xlsx", ".json", ".jsonl", ".ndjson")
"""What a further table is called at its end."""
MOST_TABLES = 20
"""That are looked into."""
DEPTH, MOST_FOLDERS, MOST_OF_FOLDER = 2, 20, 8
"""Folders below each other, and in one, in which tables are sought, and tables of one from which they are its parts."""
APART = 0.5
"""Part of the rows of a table that keys of further ones must tell apart."""
FEWEST_LIKE, MOST_LIKE, LIKE_OURS = 5, 0.8, "its rows are like yours"
"""Columns that tell rows like ours, the part of them that a table has of such rows, and what is told of it."""
LONGEST = 200
"""Letters of what a table is joined by: two names of files and some columns."""


@dataclass(slots=True)
class SideTables:
    """What was found.

    Args:
        tables: that programs can join, for `rules`: plain JSON.
        others: names of further tables that no column joins, and why where that is not plain.
    """

    tables: list[dict[str, Any]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        """For whoever writes programs, one for each table that can be joined."""
        found = [_line(one, "the tables to learn and to predict") for one in self.tables]
        return found + [_line(inner, f"input/{one['file']}") for one in self.tables for inner in one["inner"]]

    def told(self) -> str:
        """In one line; '' where there are no further tables."""
        inner = [(within["file"], one["file"]) for one in self.tables for within in one["inner"]]
        names = [
            *(one["file"] for one in self.tables),
            *(name for name, _ in inner),
            *(name.partition(" (")[0] for name in self.others),
        ]
        if not names:
            return ""
        joins = [f"{one['file']} by {_by(one)}{'' if one['one'] else ' (summed up)'}" for one in self.tables]
        joins += [f"{name} to {outer} (summed up)" for name, outer in inner]
        reads = f"joins {listed(joins, letters=LONGEST)}" if joins else "reads none of them"
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
    tell: Callable[[str], None],
    elsewhere: Collection[str] = (),
) -> SideTables:
    """Look at the further tables of a folder.

    Args:
        rows: those to learn from and to predict, or many of them.
        targets: columns to be predicted: a table that has one is looked at no further.
        invented: the column of ids that we made, which names rows of no table of the user's.
        theirs: which of the rows to predict nobody scores: a table that ends before them says nothing of these.
        known: what the tables of the competition are called, without endings.
        preview: what tells kinds of columns.
        tell: is told which table is looked at.
        elsewhere: files that another table holds too.
    """
    found = SideTables()
    barred = {*targets, *filter(None, [invented])}
    shared = [str(name) for name in rows[0] if name in rows[1] and str(name) not in barred]
    mine = OwnColumns((rows[0][shared], rows[1][shared]), preview)
    aims = {name.casefold() for name in targets}
    found_there = {path.relative_to(public).as_posix(): path for path in _files(public, known)}
    files = {name: path for name, path in found_there.items() if name not in elsewhere}
    looked_at = list(files.items())[:MOST_TABLES]
    for name, path in looked_at:
        told = f"{name} is looked at for what it says of your rows"
        tell(told)
        try:
            look_here = Look(path, name, mine, aims, theirs, preview, _how_far(told, EachSecond(tell)))
            one = LIKE_OURS if _is_like(names_of(path), shared) else look_here.found()
        except _UNREAD:
            one = "cannot be read"  # the user's file, which may be anything
        if isinstance(one, str):
            found.others.append(f"{name} ({one})" if one else name)
        else:
            found.tables.append(one)

    def look(path: Path, name: str, own: OwnColumns) -> dict[str, Any] | str:
        return Look(path, name, own, aims, theirs, preview).found()

    found.tables = with_links(found.tables, dict(looked_at), mine, look, preview)
    named = {one["file"] for one in found.tables}
    found.others = [name for name in found.others if name.partition(" (")[0] not in named]
    for name, path in [(name, path) for name, path in looked_at if name in found.others]:
        if any(_is_inside(path, name, outer, public, aims, preview) for outer in found.tables):
            found.others.remove(name)
    found.others.extend([*files][MOST_TABLES:])
    found.others.extend(_packed_together(public))
    return found


def _is_like(names: Collection[str], ours: Collection[str]) -> bool:
    """True for a table of rows like ours, such as those to predict of an earlier stage: it tells nothing of a key."""
    return len(ours) >= FEWEST_LIKE and len({*names} & {*ours}) > MOST_LIKE * len(ours)


def _how_far(told: str, now: EachSecond) -> Callable[[int], None]:
    return lambda rows: now(lambda: f"{told}: {counted(rows, 'row', form=',')}")


def _is_inside(path: Path, name: str, outer: dict[str, Any], public: Path, aims: set[str], preview: Any) -> bool:
    """True if the rows of a table that is joined have rows in this one, as loans have months; then the outer table is
    told of it."""
    if outer["rows"] > MOST_OUTER:
        return False
    try:
        both = set(names_of(path)) & set(names_of(public / outer["file"])) - {pair["side"] for pair in outer["by"]}
        if not both:
            return False
        rows = rows_of(public / outer["file"], outer["how"], [*both])
        one = Look(path, name, OwnColumns((rows, rows), preview), aims, np.zeros(len(rows), bool), preview).found()
    except _UNREAD:
        return False
    if isinstance(one, str) or not all(pair["mine"] == pair["side"] for pair in one["by"]):
        return False
    if one["names"] < APART * min(outer["rows"], one["rows"]) * one["covers"][0]:
        return False
    outer["inner"].append({**one, "also": []})
    return True


def _files(folder: Path, known: set[str], depth: int = 0) -> list[Path]:
    """Files that may be such tables, also in folders below; not those of a folder of many, which are parts of one."""
    listed = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    tables = [path for path in listed if _may_be_one(path, known)]
    if depth and len(tables) > MOST_OF_FOLDER:
        return []
    below = [path for path in listed if path.is_dir() and not path.is_symlink()] if depth < DEPTH else []
    return [*tables, *(path for one in below[:MOST_FOLDERS] for path in _files(one, known, depth + 1))]


def _packed_together(folder: Path) -> Iterator[str]:
    """Archives of several tables, which no program of `rules` opens."""
    for path in sorted(folder.glob("*.zip")):
        with suppress(zipfile.BadZipFile, OSError, ValueError), zipfile.ZipFile(path) as packed:
            count = sum(name.lower().endswith(ENDINGS) for name in packed.namelist())
            if count > 1:
                yield f"{path.name} ({count} tables: unpack it)"


def _may_be_one(path: Path, known: set[str]) -> bool:
    name = path.name.lower()
    bare = next((name.removesuffix(end) for end in PACKED.values() if name.endswith(end)), name)
    stem = next((bare.removesuffix(end) for end in ENDINGS if bare.endswith(end)), None)
    return stem is not None and stem not in known and not is_sample(path) and path.is_file()


def _by(one: dict[str, Any]) -> str:
    keys = " and by ".join(" and ".join(map(_same, by)) for by in (one["by"], *one["also"]))
    return f"{keys}, as {one['needs']} tells" if one.get("needs") else keys


def _same(pair: dict[str, str]) -> str:
    return pair["side"] if pair["side"] == pair["mine"] else f"{pair['mine']} = {pair['side']}"


def _line(one: dict[str, Any], ours: str) -> str:
    """For prompts; names of columns alone, since some may hold no value."""
    each = "one row each" if one["one"] else "several rows each"
    return f"rows for those of {ours} lie in input/{one['file']}, by {_by(one)} ({each})"
