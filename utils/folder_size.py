"""How much of the disk a folder takes, for folders in which somebody untrusted writes."""

from __future__ import annotations

from pathlib import Path

from utils.folder_entries import entries

_BLOCK = 512
"""Bytes of a block as stat counts them; an entry without any counts as one, so that empty files are bounded, too."""


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
