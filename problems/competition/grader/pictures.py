"""Images, sounds and texts in the user's folder: counted, and how the table names them, for whoever writes programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

KINDS = {
    "images": (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".dcm"),
    "sounds": (".wav", ".mp3", ".flac", ".ogg", ".aif", ".aiff"),
    "texts": (".txt", ".html", ".xml"),
}
FEW = 8
"""Files of a folder from which they are a collection."""
LOOKED_AT = 500
"""Values of a column that are compared with the names of files."""


def collections(public: Path) -> list[str]:
    """One line for each folder of like files: how many, how large a first image is, and which column names them."""
    folders: dict[tuple[Path, str], list[Path]] = {}
    for path in sorted(public.rglob("*")):
        kind = next((kind for kind, ends in KINDS.items() if path.suffix.lower() in ends), None)
        if kind and path.is_file():
            folders.setdefault((path.parent, kind), []).append(path)
    folders = {place: paths for place, paths in folders.items() if len(paths) >= FEW}
    table = public / "train.csv"
    train = pd.read_csv(table, nrows=LOOKED_AT) if folders and table.is_file() else None
    return [
        f"{len(paths)} {kind} in input/{_place(folder, public)}{_size(paths[0], kind)}{_named_by(paths, public, train)}"
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


def _named_by(paths: list[Path], public: Path, train: Any) -> str:
    """`, named by column file`: most values of the column are files of the folder, with or without the ending."""
    for ending, names in _forms(paths, public):
        for column in train.columns if train is not None else ():
            values = train[column].dropna().astype(str)
            if len(values) and values.isin(names).mean() > 0.9:
                more = f" + '{ending}'" if ending else ""
                return f"; the file of a row is its {column}{more}"
    return ""


def _forms(paths: list[Path], public: Path) -> Iterator[tuple[str, set[str]]]:
    yield "", {path.name for path in paths} | {str(path.relative_to(public)) for path in paths}
    yield paths[0].suffix, {path.stem for path in paths}
