"""Images, sounds and texts in the user's folder: counted, and how the table names them, for whoever writes programs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from . import validate

KINDS = {
    "images": (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".dcm"),
    "sounds": (".wav", ".mp3", ".flac", ".ogg", ".aif", ".aiff"),
    "texts": (".txt", ".html", ".xml"),
}
_KIND_OF = {end: kind for kind, ends in KINDS.items() for end in ends}
FEW = 8
"""Files of a folder from which they are a collection."""
MOST = 0.9
"""Part of the rows, or of the files, that a column must find to name them."""
SPREAD = 0.5
"""Part of what it could name at most that it must name: grades from 1 to 5 are no names, though 1.png may be there."""


def collections(public: Path, tables: list[Any], invented: str | None = None) -> list[str]:
    """One line for each folder of like files: how many, how large a first image is, and which column names them.

    Args:
        tables: rows of `train.csv` and of `test.csv`.
        invented: the column of ids that we made. It names no file of the user's, whatever numbers the files have.
    """
    folders: dict[tuple[str, str], list[str]] = {}
    for folder, _, names in os.walk(public):
        place = os.path.relpath(folder, public)
        for name in names:
            if kind := _KIND_OF.get(os.path.splitext(name)[1].lower()):
                folders.setdefault((place, kind), []).append(name)
    folders = {place: sorted(names) for place, names in sorted(folders.items()) if len(names) >= FEW}
    columns = dict(_columns(tables, invented)) if folders else {}
    return [
        f"{len(names)} {kind} in input/{_place(place)}{_size(public / place / names[0], kind)}"
        f"{_named_by(names, _place(place), columns)}"
        for (place, kind), names in folders.items()
    ]


def _place(folder: str) -> str:
    return "" if folder == "." else f"{folder}/"


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
    """What may name files: columns that `train.csv` and `test.csv` share, as ids of all their rows and of train's."""
    for name in tables[0].columns if tables else ():
        if str(name) != invented and all(name in table for table in tables):
            keys = [validate.as_keys(table[name]).dropna() for table in tables]
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
