"""Further tables that lie in several files: joined into one in the folder that programs see.

Three forms: parts (`loans_0.csv`, `loans_1.csv`; `book.parquet/stock_id=0/part-0.parquet`), one for each side
(`train_identity.csv`, `test_identity.csv`), and a file for each row, called like it (`train/1000015382.csv`). What
names of folders and files say is then a column.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import pandas as pd

from ..tables.columnar_files import column_names, parquet_pieces
from ..tables.columns import listed, same_names
from ..tables.contents import read_any
from ..tables.counts import counted
from ..tables.exact import Unusable
from ..tables.formats import COLUMNAR, PARQUET, Look, is_text, look_at
from ..tables.keys import as_keys
from .parts_of_tables import PARTITION, join_files, partitions

ENDINGS = re.compile(r"\.(csv|tsv|tab|parquet|pq|feather|arrow)(\.(gz|zip|bz2|xz))?$", re.IGNORECASE)
"""What such files are called at their end."""
OURS = frozenset(("train.csv", "test.csv", "sample_submission.csv"))
MOST_BYTES = 1 << 31
"""Of the files of one table, which lie on the disk twice for a while."""
MOST_KEPT = 1 << 26
"""Of the files of one table, which then lie there beside it: programs may know them by their names."""
HEAD = 20_000
"""Rows of two files that tell whether they are parts of one table."""
WORK = ".joined"
"""A folder that is there while a table is joined."""
HALF = 0.5
"""Part of the ids of one file that another has too where they begin anew."""
FEW, MOST = 8, 0.9
"""Files from which their names may be rows', and the part of them that must be."""
_SIDE = re.compile(r"(?<![a-z])(train|test)(ing)?(?![a-z])", re.IGNORECASE)
_NUMBER = re.compile(r"[\da-f]{8}-[\da-f-]{27}|\d+", re.IGNORECASE)
_UNREAD = (Unusable, ValueError, OSError, LookupError, TypeError, ImportError)


@dataclass(frozen=True, slots=True)
class Joined:
    """The tables that were made, below the folder, what is told of each, and their files that are still there."""

    names: list[str]
    notes: list[str]
    parts: list[str]


def join_further(
    public: Path, keys: Mapping[str, Collection[str]], columns: Collection[str], anew: Collection[str] = ()
) -> Joined:
    """Join what is one table; its files are left as they are where they are none, or too large.

    Args:
        public: what programs see.
        keys: columns of ours that name rows, and their values as texts.
        columns: all columns of ours.
        anew: columns that name rows of the user's test by what other rows of the training table are called.
    """
    done, work, small = Joined([], [], []), public / WORK, {name.casefold() for name in columns}
    for paths, key in _groups(public, keys):
        told = partitions(paths, public) if key is None else {path: {key: _stem(path)} for path in paths}
        by_names = any(told.values())
        size = sum(path.stat().st_size for path in paths)
        try:
            if key is None and (name := _begins_anew(paths, {*keys, *anew})):
                theirs = [path.relative_to(public).as_posix() for path in paths if _is_of_test(path)]
                done.parts.extend(theirs)
                done.notes.append(f"{name} begins anew in {listed(theirs)}, whose rows are others: nothing joins it")
                continue
            if not _are_one(paths, () if by_names else small):
                continue
            name = _name(paths, public, key)
            if size > MOST_BYTES:
                done.notes.append(
                    f"{counted(len(paths), 'file')} of {name} are too many to be joined ({size >> 20:,} MB)"
                )
                continue
            work.mkdir()
            table, rows, odd = join_files(paths, name, work, told)
        except _UNREAD:  # the user's files, which may be anything
            shutil.rmtree(work, ignore_errors=True)
            continue
        for path in paths:
            if size <= MOST_KEPT:
                done.parts.append(path.relative_to(public).as_posix())
            else:
                path.unlink()
        _remove_empty(public)
        place = public / table.name  # where its parts lie in a folder of that name, and are still there
        table = table.rename(place.with_stem(f"{place.stem}_joined") if place.exists() else place)
        work.rmdir()
        by = f", with {', '.join(told[paths[0]])} by their {'names' if key else 'folders'}" if by_names else ""
        first, last = (listed([path.relative_to(public).as_posix()]) for path in (paths[0], paths[-1]))
        done.names.append(table.name)
        done.notes.append(
            f"{counted(len(paths), 'file makes', 'files make')} {table.name}, {counted(rows, 'row', form=',')}: "
            f"{first} … {last}{by}" + "".join(f"; {line}" for line in odd)
        )
    return done


def _groups(public: Path, keys: Mapping[str, Collection[str]]) -> Iterator[tuple[list[Path], str | None]]:
    """Files that may be one table, and the column whose values they are called after."""
    found = [Path(place, name) for place, _, names in os.walk(public) for name in names if ENDINGS.search(name)]
    paths = [path for path in found if path.parent != public or path.name not in OURS]
    folders: dict[str, list[Path]] = {}
    for path in paths:
        folders.setdefault(_SIDE.sub("*", path.parent.relative_to(public).as_posix()) + path.suffix, []).append(path)
    shapes: dict[str, list[Path]] = {}
    for group in folders.values():
        key = _called_after(group, keys)
        if key is not None:
            yield _in_order(group, public), key
            continue
        for path in group:
            shapes.setdefault(_shape(path.relative_to(public)), []).append(path)
    yield from ((_in_order(group, public), None) for group in shapes.values() if len(group) > 1)


def _called_after(paths: Sequence[Path], keys: Mapping[str, Collection[str]]) -> str | None:
    """The column whose values are the names of these files."""
    names = {_stem(path) for path in paths}
    if len(names) < max(FEW, len(paths)):
        return None
    bare = {_without_zeros(name) for name in names}
    for key, values in keys.items():
        if len(bare & {*map(_without_zeros, values)}) >= MOST * len(names) and len(bare) == len(names):
            return key
    return None


def _without_zeros(name: str) -> str:
    """`0017` is 17 where its column is read as numbers."""
    return name.lstrip("0") or "0" if name.isdecimal() else name


def _stem(path: Path) -> str:
    return ENDINGS.sub("", path.name)


def _shape(path: Path) -> str:
    """What parts of a table have in common."""
    places = [
        f"{pair[1]}=" if (pair := PARTITION.fullmatch(part)) else _NUMBER.sub("0", _SIDE.sub("*", part)).lower()
        for part in path.parts
    ]
    last = "".join(path.suffixes[-2:]) if len(places) > 1 and places[-2].endswith("=") else places[-1]
    return "/".join([*places[:-1], last])


def _in_order(paths: Sequence[Path], public: Path) -> list[Path]:
    """Those of the training table first, parts by their numbers."""

    def key(path: Path) -> tuple[bool, list[tuple[int, str]]]:
        name = path.relative_to(public).as_posix()
        words = re.split(r"(\d+)", name)
        is_test = any(match[1].lower() == "test" for match in _SIDE.finditer(name))
        return is_test, [(int(word), "") if word.isdecimal() else (-1, word) for word in words]

    return sorted(paths, key=key)


def _are_one(paths: Sequence[Path], keys: Collection[str]) -> bool:
    """True if all have the same columns, and no column of ours names one row of each: several tables of the same days
    are one for each place, say.

    Args:
        keys: columns of ours, in small letters.
    """
    looks = {path: look_at(path) for path in paths}
    if not all(is_text(look) or look.suffix in COLUMNAR for look in looks.values()):
        return False
    heads = {path: _columns(path, look) for path, look in looks.items()}
    first = {*heads[paths[0]]}
    if any({same.get(name, name) for name in names} != first
           for names in heads.values() for same in [same_names(names, first)]):  # fmt: skip
        return False
    shared = [name for name in heads[paths[0]] if name.casefold() in keys and name in heads[paths[1]]]
    for name in shared:
        one, other = (_head(path, looks[path], name) for path in (paths[0], paths[1]))
        if min(len(one), len(other)) > 1 and one.is_unique and other.is_unique and other.isin(one).mean() > 1 - MOST:
            return False
    return True


def _is_of_test(path: Path) -> bool:
    sides = _SIDE.findall(path.name) or _SIDE.findall(path.parent.name)
    return bool(sides) and sides[-1][0].lower() == "test"


def _begins_anew(paths: Sequence[Path], names: Collection[str]) -> str:
    """The column by which a table of the test calls its rows as that of training calls others; '' for none."""
    sides = [next((path for path in paths if _is_of_test(path) is of_test), None) for of_test in (False, True)]
    looks = [(path, look_at(path)) for path in sides if path is not None]
    if len(looks) < 2:
        return ""
    for name in names:
        if all(name in _columns(path, look) for path, look in looks):
            mine, theirs = (as_keys(_head(path, look, name)).dropna().unique() for path, look in looks)
            if len(theirs) and pd.Series(theirs).isin({*mine}).mean() > HALF:
                return name
    return ""


def _columns(path: Path, look: Look) -> list[str]:
    return column_names(path, look) if look.suffix in COLUMNAR else [str(name) for name in read_any(path, rows=5)[0]]


def _head(path: Path, look: Look, name: str) -> Any:
    if look.suffix in PARQUET and not look.packed:
        return next(parquet_pieces(path, [name], HEAD))[name].to_pandas()
    return read_any(path, rows=HEAD)[0][name]


def _name(paths: Sequence[Path], public: Path, key: str | None) -> str:
    """What the table is called, without an ending: what the names of its files begin with, or their folder."""
    if key is not None:
        return _free(f"{key}_files", public)
    places = [path.relative_to(public) for path in paths]
    roots = [next((at for at, part in enumerate(place.parts) if PARTITION.fullmatch(part)), None) for place in places]
    if roots[0]:
        stems = [ENDINGS.sub("", place.parts[at - 1]) for place, at in zip(places, roots, strict=True) if at]
    else:
        stems = [_stem(place) for place in places]
    bare = [_SIDE.sub("", stem).strip(" _-.") for stem in stems]
    alike = takewhile(lambda letters: len({*letters}) == 1, zip(*bare, strict=False))
    start = "".join(letters[0] for letters in alike)
    start = start if all(stem == start for stem in bare) else re.sub(r"\d+$", "", start)
    folder = ENDINGS.sub("", places[0].parts[-2]) if len(places[0].parts) > 1 else ""
    called = start.strip(" _-.")
    called = called if re.sub("(?i)part|chunk|^c0+", "", called).strip(" _-.") else _SIDE.sub("", folder).strip(" _-.")
    return _free(called or "further", public)


def _free(name: str, public: Path) -> str:
    taken = {ENDINGS.sub("", path.name).lower() for path in public.iterdir() if path.is_file()}
    return name if name.lower() not in taken else f"{name}_joined"


def _remove_empty(folder: Path) -> None:
    for place, _, _ in os.walk(folder, topdown=False):
        if Path(place) != folder and not os.listdir(place):
            Path(place).rmdir()
