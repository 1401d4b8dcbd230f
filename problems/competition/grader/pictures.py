"""Images, sounds and texts in the public folder: counted, and how a table or a folder's name tells them apart, for
whoever writes programs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from .file_kinds import KINDS
from .tables.counts import counted
from .tables.keys import as_keys

_KIND_OF = {end: f"{kind}s" for kind, ends in KINDS.items() for end in ends}
FEW = 8
"""Files from which they are a collection."""
MOST = 0.9
"""Part of the rows, or of the files, that a column must find to name them."""
SPREAD = 0.5
"""Part of what it could name at most that it must name: grades from 1 to 5 are no names, though 1.png may be there."""
MOST_LINES = 12
SHOWN = 8
"""Folders of a family that a line names."""


def collections(public: Path, tables: list[Any], invented: str | None = None) -> list[str]:
    """One line for each folder of like files: how many, how large a first image is, and which column names them.
    Folders side by side whose files no column names are one line: their names sort them, and are the labels where no
    table has any.

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
        named |= {(folder, kind): "" for folder, kind in named if folder.parent != public and side[folder.parent] > 1}
    families: dict[tuple[Path, str], list[Path]] = {}
    for folder, kind in folders:
        if not named.get((folder, kind)) and folder != public:
            families.setdefault((folder.parent, kind), []).append(folder)
    lines: list[str] = []
    for folder, kind in folders:
        family = families.get((folder.parent, kind), []) if folder != public else []
        if folder in family and len(family) > 1:
            if folder == family[0]:
                lines += _family(family, kind, folders, public, labels=len(tables) < 2)
        elif (folder, kind) in named:
            names = folders[folder, kind]
            where = f"{len(names)} {kind} in input/{_place(folder, public)}"
            lines.append(f"{where}{_size(folder / names[0], kind)}{named[folder, kind]}")
    return (
        lines
        if len(lines) <= MOST_LINES
        else [*lines[:MOST_LINES], f"{counted(len(lines) - MOST_LINES, 'more such folder')}"]
    )


def _folders(public: Path) -> dict[tuple[Path, str], list[str]]:
    """Folder and kind → names of its files."""
    found: dict[tuple[Path, str], list[str]] = {}
    for folder, _, names in os.walk(public):
        place = Path(folder)
        for name in names:
            if kind := _KIND_OF.get(os.path.splitext(name)[1].lower()):
                found.setdefault((place, kind), []).append(name)
    return {place: sorted(names) for place, names in sorted(found.items())}


def _family(
    family: list[Path], kind: str, folders: dict[tuple[Path, str], list[str]], public: Path, *, labels: bool
) -> Iterator[str]:
    """Folders side by side, in one line; none where they hold too few files."""
    counts = {folder.name: len(folders[folder, kind]) for folder in family}
    if sum(counts.values()) < FEW:
        return
    each = ", ".join(f"{name} ({count})" for name, count in list(counts.items())[:SHOWN])
    more = f" and {len(counts) - SHOWN} more" if len(counts) > SHOWN else ""
    first = family[0] / folders[family[0], kind][0]
    yield (
        f"{sum(counts.values())} {kind} in {counted(len(family), 'folder')} of input/{_place(family[0].parent, public)}"
        f"{_size(first, kind)}: {each}{more}{'; no table has labels, these folders sort them' if labels else ''}"
    )


def _place(folder: Path, public: Path) -> str:
    return f"{folder.relative_to(public)}/" if folder != public else ""


def _size(path: Path, kind: str) -> str:
    """Width, height and colours of the first image, where Pillow reads it."""
    if kind != "images":
        return ""
    try:
        from PIL import Image

        with Image.open(path) as image:
            return f" ({image.width}×{image.height} {image.mode})"
    except Exception:  # noqa: BLE001 - the user's file, in a format that Pillow may not know
        return ""


def _columns(tables: list[Any], invented: str | None) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """What may name files: columns that the tables share, as ids of all their rows and of those of the first."""
    for name in tables[0].columns if tables else ():
        if str(name) != invented and all(name in table for table in tables):
            keys = [as_keys(table[name]).dropna() for table in tables]
            yield str(name), (pd.concat(keys), keys[0])


def _named_by(names: list[str], place: str, columns: dict[str, tuple[Any, Any]]) -> str:
    """`; the file of a row is its doc + '.txt'`: the column that names most of the files, and all that name as many."""
    for ending, forms in _forms(names, place):
        counts = {name: found for name, keys in columns.items() if (found := _named(*keys, forms, len(names)))}
        best = [name for name, found in counts.items() if found == max(counts.values())]
        if best:
            more = f" + '{ending}'" if ending else ""
            return f"; the file of a row is its {' or its '.join(f'{name}{more}' for name in best)}"
    return ""


def _named(keys: Any, shown: Any, names: set[str], files: int) -> tuple[int, float] | None:
    """How many different files the column names, and for which part of the rows; None where it names no files."""
    found = set(keys) & names
    apart = len(found) >= SPREAD * min(files, len(keys))
    of_rows = float(shown.isin(names).mean()) if len(shown) else 0.0
    if not apart or max(of_rows, len(found) / files) <= MOST:
        return None
    return len(found), float(keys.isin(names).mean())


def _forms(names: list[str], place: str) -> Iterator[tuple[str, set[str]]]:
    """What ends a name that a column leaves out, and the names."""
    yield "", {*names, *(place + name for name in names)}
    yield os.path.splitext(names[0])[1], {os.path.splitext(name)[0] for name in names}
