"""Temporary folders that a kill leaves behind: each is locked while its process lives, and what nobody locks is swept.

A kernel lets go of a lock when its process dies, so that no process id has to be trusted.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "swarm-evo-"
"""Begins the names of all of ours."""
_LOCK = ".in-use"


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def scratch_folder(prefix: str, remove: Callable[[Path], None] = _remove) -> Iterator[Path]:
    """A fresh folder below the system's temporary one, removed at the end. Nobody else may look into it.

    Args:
        prefix: of its name, which begins with PREFIX.
        remove: how a folder goes whose inside may have any mode and owner; raises OSError where something stays.
    """
    place = Path(tempfile.mkdtemp(prefix=prefix))
    lock = hold(place)
    try:
        yield place
    finally:
        with suppress(OSError):  # something may still write into it: then the next sweep has it
            remove(place)
        os.close(lock)


def hold(place: Path) -> int:
    """Mark a fresh folder as in use, until the descriptor that is returned is closed or its process is dead.

    Where the disk knows no locks, nobody ever takes the folder for left.
    """
    lock = os.open(place / f"{_LOCK}.new", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(place / f"{_LOCK}.new", place / _LOCK)  # nobody ever sees it without its lock
    return lock


def sweep(remove: Callable[[Path], None] = _remove) -> int:
    """Remove this user's folders whose process is gone; how many."""
    gone = 0
    for place in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if place.is_symlink() or place.stat().st_uid != os.getuid() or not is_left(place):
                continue
            remove(place)
            gone += 1
    return gone


def is_left(place: Path) -> bool:
    """True if the process that held the folder is gone, on whatever machine or in whatever container that was.

    One without a lock file is just being made, or is not ours.
    """
    try:
        lock = os.open(place / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
