"""Images, sounds and texts in the user's folder: counted, and how the table names them, for whoever writes programs."""

from __future__ import annotations

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
    folders: dict[tuple[Path, str], list[Path]] = {}
    for path in sorted(public.rglob("*")):
        kind = next((kind for kind, ends in KINDS.items() if path.suffix.lower() in ends), None)
        if kind and path.is_file():
            folders.setdefault((path.parent, kind), []).append(path)
    folders = {place: paths for place, paths in folders.items() if len(paths) >= FEW}
    columns = dict(_columns(tables, invented)) if folders else {}
    return [
        f"{len(paths)} {kind} in input/{_place(folder, public)}{_size(paths[0], kind)}"
        f"{_named_by(paths, public, columns)}"
        for (folder, kind), paths in folders.items()
    ]


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
    """What may name files: columns that `train.csv` and `test.csv` share, as ids of all their rows and of train's."""
    for name in tables[0].columns if tables else ():
        if str(name) != invented and all(name in table for table in tables):
            keys = [validate.as_keys(table[name]).dropna() for table in tables]
            yield str(name), (pd.concat(keys), keys[0])


def _named_by(paths: list[Path], public: Path, columns: dict[str, tuple[Any, Any]]) -> str:
    """`; the file of a row is its doc + '.txt'`: the column that names most of the files, and all that name as many."""
    for ending, names in _forms(paths, public):
        counts = {name: found for name, keys in columns.items() if (found := _named(*keys, names, len(paths)))}
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


def _forms(paths: list[Path], public: Path) -> Iterator[tuple[str, set[str]]]:
    """What ends a name that a column leaves out, and the names."""
    yield "", {path.name for path in paths} | {str(path.relative_to(public)) for path in paths}
    yield paths[0].suffix, {path.stem for path in paths}
