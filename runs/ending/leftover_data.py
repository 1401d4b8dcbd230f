"""Data sets made ready that no run uses any more: copies of older data, or made by an older version of ours."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from problems.competition.dataset import UNPACKED
from problems.competition.problem import CACHE
from runs.run_folder import all_runs, began_at

_YOUNG = 2 * 3600.0
"""Seconds in which a run that begins has made its data ready."""


def leftover_data(project_dir: str | Path) -> list[Path]:
    """Folders that were last used before the oldest of the runs began; [] where a run cannot tell when it began.

    Of what was prepared the newest copy of each data set stays: the next run on it begins at once.
    """
    project = Path(project_dir).resolve()
    began = [began_at(run) for run in all_runs(project_dir)]
    if None in began:
        return []
    before = min([time.time() - _YOUNG, *(one.timestamp() for one in began if one is not None)])
    copies = [folder for _, of_one in sorted(_prepared(project / CACHE).items()) for folder in of_one[:-1]]
    return [folder for folder in (*copies, *_folders(project / UNPACKED)) if _used(folder) < before]


def taken(folder: Path) -> int:
    """Bytes of its files; those that lie elsewhere under another name, too, count where they do."""
    found = 0
    for root, _, names in os.walk(folder):
        for name in names:
            status = os.lstat(os.path.join(root, name))
            found += status.st_size if status.st_nlink == 1 else 0
    return found


def _prepared(cache: Path) -> dict[str, list[Path]]:
    """The copies of each data set by its name, last used last."""
    found: dict[str, list[Path]] = {}
    for folder in sorted(_folders(cache), key=_used):
        if (folder / "meta.json").is_file():
            found.setdefault(folder.name.rpartition("-")[0], []).append(folder)
    return found


def _folders(place: Path) -> Iterator[Path]:
    """None that is just being made, which has a name with a point before it, and no link."""
    return (one for one in sorted(place.glob("[!.]*")) if one.is_dir() and not one.is_symlink())


def _used(folder: Path) -> float:
    return folder.stat().st_mtime
