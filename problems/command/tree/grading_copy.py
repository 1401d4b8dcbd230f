"""The copy of a base in which its grader runs: what that leaves there, answers perhaps, no program is shown."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from problems.command.tree.fresh_folders import fresh_folder

FOLDER = "graded"
"""Beside the base."""


def grading_copy(base: Path) -> Path:
    """The copy of the folder `base`, made where there is none yet."""
    place = base.parent / FOLDER
    if not place.is_dir():
        with fresh_folder(base.parent) as fresh:
            copy = shutil.copytree(base, fresh / FOLDER, symlinks=True)
            with suppress(OSError):  # another worker was quicker
                copy.rename(place)
    return place
