"""Folders that are being filled or taken away beside the finished ones, and what killed processes left of such.

Whoever fills one holds a lock on it, which a kernel lets go of when its process dies.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FRESH, OLD = ".fresh-", ".old-"
"""How the names of what is being filled, and of what is being taken away, begin."""


@contextmanager
def fresh_folder(parent: Path) -> Iterator[Path]:
    """A new folder in `parent`, to be filled and renamed; where it still has its name at the end, it goes."""
    while True:
        fresh = Path(tempfile.mkdtemp(prefix=FRESH, dir=parent))
        handle = locked(fresh, fcntl.LOCK_SH)
        if handle is not None or fresh.is_dir():  # else it was swept before it was locked
            break
    try:
        yield fresh
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def sweep(parent: Path) -> None:
    """Remove what killed processes left in `parent`."""
    for folder in (*parent.glob(f"{FRESH}*"), *parent.glob(f"{OLD}*")):
        handle = locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if handle is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(handle)


def locked(folder: Path, how: int) -> int | None:
    """A handle that holds the lock until it is closed; None where the folder is not there, or cannot be had."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(handle, how)
        if os.path.samestat(os.fstat(handle), os.stat(folder)):  # it was not taken away while we waited
            return handle
    except OSError:
        pass
    os.close(handle)
    return None
