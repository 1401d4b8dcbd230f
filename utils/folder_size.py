"""How much of the disk a folder takes, for folders in which somebody untrusted writes."""

from __future__ import annotations

import os
from pathlib import Path

from utils.folder_entries import entries

_BLOCK = 512
"""Bytes of a block as stat counts them; an entry without any counts as one, so that empty files are bounded, too."""
_LEAST = 256 << 20
"""Bytes that every machine needs for itself."""


class Disk:
    """The disk that a folder lies on, from now on: the last line against files that have no name any more."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        found = os.statvfs(folder)
        self._least = min(_LEAST, found.f_blocks * found.f_frsize // 10, found.f_bavail * found.f_frsize // 2)

    @property
    def is_short(self) -> bool:
        """True where less is left than the machine needs; nothing is said of a folder that is gone."""
        try:
            found = os.statvfs(self._folder)
        except OSError:
            return False
        return found.f_bavail * found.f_frsize < self._least


def holds_more(folder: Path, megabytes: int) -> bool:
    """True if what lies below takes more than so much of the disk, or lies too deep to be counted.

    No link is followed, what vanishes meanwhile counts nothing, and a folder that was closed to us is opened again.
    """
    taken, most = 0, megabytes << 20
    for entry in entries(folder, reopen=True):
        taken += max(1, entry.status.st_blocks) * _BLOCK
        if taken > most or entry.is_too_deep:
            return True
    return False
