"""Images, sounds and texts in the public folder and in its zips: counted, and how a table or a folder's name tells them
apart, for whoever writes programs."""

from __future__ import annotations

import os
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pandas as pd

from .tables.counts import counted
from .tables.file_kinds import KINDS
from .tables.keys import as_keys

_KIND_OF = {end: f"{kind}s" for kind, ends in KINDS.items() for end in ends}
FEW = 8
"""Files from which they are a collection."""
MOST = 0.9
"""Part of the rows, or of the files, that a column must find to name them."""
SPREAD = 0.5
"""Part of what it could name at most that it must name: grades from 1 to 5 are no names, though 1.png may be there."""
MOST_LINES = 12
READ = {"images": "images at 32×32 pixels", "texts": "texts"}
"""What `rules` makes of files that a column names."""
ZIP = ".zip"
"""As programs of `rules` know one by its path."""
TRIED = 3
"""Images that are opened to see one."""
WEIGHED = 100
"""Files of which the mean size is taken."""
SHOWN = 8
"""Folders of a family that a line names."""


@dataclass(frozen=True, slots=True)
class Collections:
    """What lies in folders.

    Args:
        lines: one for each folder of like files, for people and models.
        named: folders of texts, and of images that Pillow reads, that a column names: `kind`, `column`, `folder` (ends
            with `/`, or '' where the column's values hold it), `ending` (what the values leave out), `digits` (that
            numbers are filled up to) and `bytes` of a file.
    """

    lines: list[str]
    named: list[dict[str, Any]]

    def told(self) -> str:
        """In a line, with what `rules` makes of them."""
        kinds = {one["kind"] for one in self.named}
        reads = [told for kind, told in READ.items() if kind in kinds]
        told = f"tables, {' and '.join(reads)}" if reads else "tables only"
        return f"{'; '.join(self.lines)}: programs see them, and the rules writer reads {told}"


@dataclass(frozen=True, slots=True)
class _Naming:
    """Columns that name files: their values followed by `ending` are the names, behind the folder unless `whole`.

    Args:
        digits: numbers are filled up to so many with zeros, which a table of numbers has lost; 0 for none.
    """

    columns: tuple[str, ...]
    ending: str
    digits: int
    whole: bool

    def told(self) -> str:
        more = f" in {self.digits} digits" if self.digits else ""
        more += f" + '{self.ending}'" if self.ending else ""
        return f"; the file of a row is its {' or its '.join(f'{name}{more}' for name in self.columns)}"


def collections(public: Path, tables: list[Any], invented: str | None = None) -> Collections:
    """How many files, how large a first image is, and which column names them. Folders side by side whose files no
    column names are one line: their names sort them, and are the labels where no table has any.

    Args:
        tables: the labelled rows and those to predict, where they are.
        invented: the column of ids that we made. It names no file of the user's, whatever numbers the files have.
    """
    folders = _folders(public)
    columns = dict(_columns(tables, invented)) if folders else {}
    named = {
        (folder, kind): _named_by(names, _place(folder, public), columns)
        for (folder, kind), names in folders.items()
        if len(names) >= FEW
    }
    if len(tables) < 2:  # numbers of the rows to predict, which the files of every class may have
        side = Counter(folder.parent for folder, _ in folders)
        named |= {(folder, kind): None for folder, kind in named if folder.parent != public and side[folder.parent] > 1}
    families: dict[tuple[Path, str], list[Path]] = {}
    for folder, kind in folders:
        if not named.get((folder, kind)) and folder != public:
            families.setdefault((folder.parent, kind), []).append(folder)
    lines: list[str] = []
    found: list[dict[str, Any]] = []
    for folder, kind in folders:
        family = families.get((folder.parent, kind), []) if folder != public else []
        if folder in family and len(family) > 1:
            if folder == family[0]:
                lines += _family(family, kind, folders, public, labels=len(tables) < 2)
        elif (folder, kind) in named:
            names, naming = folders[folder, kind], named[folder, kind]
            size = _size(folder, names, kind)
            where = f"{len(names)} {kind} in input/{_place(folder, public)}"
            lines.append(f"{where}{size}{naming.told() if naming else ''}")
            if naming and (size or kind == "texts"):
                found.append({"kind": kind, **_named_files(folder, names, naming, public)})
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"{counted(len(lines) - MOST_LINES, 'more such folder')}"]
    return Collections(lines, found)


def _named_files(folder: Path, names: list[str], naming: _Naming, public: Path) -> dict[str, Any]:
    some = names[:: max(1, len(names) // WEIGHED)]
    archive, inner = _archive_of(folder)
    if archive is None:
        size = sum((folder / name).stat().st_size for name in some) / len(some)
    else:
        with zipfile.ZipFile(archive) as packed:
            size = sum(packed.getinfo(inner + name).file_size for name in some) / len(some)
    place = "" if naming.whole else _place(folder, public)
    said = {"column": naming.columns[0], "folder": place, "ending": naming.ending, "digits": naming.digits}
    return {**said, "bytes": round(size)}


def _folders(public: Path) -> dict[tuple[Path, str], list[str]]:
    """Folder and kind → names of its files; a zip is a folder, too."""
    found: dict[tuple[Path, str], list[str]] = {}

    def add(place: Path, name: str) -> None:
        if kind := _KIND_OF.get(os.path.splitext(name)[1].lower()):
            found.setdefault((place, kind), []).append(name)

    for folder, _, names in os.walk(public):
        for name in names:
            add(Path(folder), name)
            if name.endswith(ZIP):
                for member in _members(Path(folder) / name):
                    inner, _, name_there = member.rpartition("/")
                    add(Path(folder) / name / inner, name_there)
    return {place: sorted(names) for place, names in sorted(found.items())}


def _members(archive: Path) -> list[str]:
    """[] of a file that is no zip, whatever its name."""
    with suppress(zipfile.BadZipFile, OSError, ValueError), zipfile.ZipFile(archive) as packed:
        return [name for name in packed.namelist() if not name.startswith(("/", "__MACOSX/"))]
    return []


def _archive_of(path: Path) -> tuple[Path | None, str]:
    """The zip that this folder is in, and the folder there as names begin; None for a folder of its own."""
    for place in (path, *path.parents):
        if place.suffix == ZIP and place.is_file():
            inner = path.relative_to(place).as_posix()
            return place, "" if inner == "." else f"{inner}/"
    return None, ""


def _opened(folder: Path, name: str) -> IO[bytes]:
    archive, inner = _archive_of(folder)
    if archive is None:
        return (folder / name).open("rb")
    with zipfile.ZipFile(archive) as packed:
        return packed.open(inner + name)


def _family(
    family: list[Path], kind: str, folders: dict[tuple[Path, str], list[str]], public: Path, *, labels: bool
) -> Iterator[str]:
    """Folders side by side, in one line; none where they hold too few files."""
    counts = {folder.name: len(folders[folder, kind]) for folder in family}
    if sum(counts.values()) < FEW:
        return
    each = ", ".join(f"{name} ({count})" for name, count in list(counts.items())[:SHOWN])
    more = f" and {len(counts) - SHOWN} more" if len(counts) > SHOWN else ""
    size = _size(family[0], folders[family[0], kind], kind)
    yield (
        f"{sum(counts.values())} {kind} in {counted(len(family), 'folder')} of input/{_place(family[0].parent, public)}"
        f"{size}: {each}{more}{'; no table has labels, these folders sort them' if labels else ''}"
    )


def _place(folder: Path, public: Path) -> str:
    return f"{folder.relative_to(public)}/" if folder != public else ""


def _size(folder: Path, names: list[str], kind: str) -> str:
    """Width, height and colours of the first image that Pillow reads."""
    for name in names[:TRIED] if kind == "images" else ():
        try:
            from PIL import Image

            with _opened(folder, name) as file, Image.open(file) as image:
                return f" ({image.width}×{image.height} {image.mode})"
        except Exception:  # noqa: BLE001 - the user's file, torn or in a format that Pillow may not know
            continue
    return ""


def _columns(tables: list[Any], invented: str | None) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """What may name files: columns that the tables share, as ids of all their rows and of those of the first."""
    for name in tables[0].columns if tables else ():
        if str(name) != invented and all(name in table for table in tables):
            keys = [as_keys(table[name]).dropna() for table in tables]
            yield str(name), (pd.concat(keys), keys[0])


def _named_by(names: list[str], place: str, columns: dict[str, tuple[Any, Any]]) -> _Naming | None:
    """The column that names most of the files, and all that name as many."""
    for ending, digits, forms in _forms(names, place):
        counts = {name: found for name, keys in columns.items() if (found := _named(*keys, forms, len(names)))}
        best = tuple(name for name, found in counts.items() if found == max(counts.values()))
        if best:
            whole = bool(place) and bool(columns[best[0]][0].astype(str).str.startswith(place).any())
            return _Naming(best, ending, digits, whole)
    return None


def _named(keys: Any, shown: Any, names: set[str], files: int) -> tuple[int, float] | None:
    """How many different files the column names, and for which part of the rows; None where it names no files."""
    found = set(keys) & names
    apart = len(found) >= SPREAD * min(files, len(keys))
    of_rows = float(shown.isin(names).mean()) if len(shown) else 0.0
    if not apart or max(of_rows, len(found) / files) <= MOST:
        return None
    return len(found), float(keys.isin(names).mean())


def _forms(names: list[str], place: str) -> Iterator[tuple[str, int, set[str]]]:
    """What ends a name that a column leaves out, the digits that its numbers are filled up to, and the names."""
    stems = [os.path.splitext(name)[0] for name in names]
    ending, digits = os.path.splitext(names[0])[1], len(stems[0])
    yield "", 0, {*names, *(place + name for name in names)}
    yield ending, 0, set(stems)
    if all(stem.isdecimal() and len(stem) == digits for stem in stems):
        yield ending, digits, {str(int(stem)) for stem in stems}
