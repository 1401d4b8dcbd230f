"""How much of the disk a folder takes, for folders in which somebody untrusted writes."""

from __future__ import annotations

import os
from pathlib import Path

_BLOCK = 512
"""Bytes of a block as stat counts them; an entry without any counts as one, so that empty files are bounded, too."""


def holds_more(folder: Path, megabytes: int) -> bool:
    """True if what lies below takes more than so much of the disk.

    No link is followed, what vanishes meanwhile counts nothing, and a folder that was closed to us is opened again.
    """
    taken, most, todo = 0, megabytes << 20, [str(folder)]
    while todo and taken <= most:
        place = todo.pop()
        try:
            if not os.access(place, os.R_OK | os.X_OK):
                os.chmod(place, 0o700, follow_symlinks=False)
            with os.scandir(place) as entries:
                for entry in entries:
                    taken += max(1, entry.stat(follow_symlinks=False).st_blocks) * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    if taken > most:
                        break
        except OSError:
            continue
    return taken > most
