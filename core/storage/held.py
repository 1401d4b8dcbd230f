"""Who works on a run: the kernel's lock on its `run.lock` says whether somebody does."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from utils.regular_files import regular_handle

LOCK = "run.lock"
"""Below the run's folder; holds the process id of who holds the lock."""
WAITING = "waiting"
"""Status of a run that is stepped by hand, between two steps: nothing broke it off."""


def lock_holder(lock: Path | str) -> int | None:
    """Process id written in a held lock file; 0 if it is held, or cannot be asked, without one; None if it is free."""
    try:
        handle = regular_handle(lock)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return 0
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        words = os.read(handle, 64).decode("ascii", "replace").split()
        return int(words[0]) if words and words[0].isdigit() else 0
    finally:
        os.close(handle)
    return None


def is_holder(pid: int, lock: Path | str) -> bool:
    """True if that process of this machine has the lock file open.

    What is written there may be the number of a process in another container, by which another process is known here;
    or, for an instant, that of whoever held the lock before.
    """
    try:
        wanted = os.stat(lock)
        return any(_is_file(f"/proc/{pid}/fd/{name}", wanted) for name in os.listdir(f"/proc/{pid}/fd"))
    except OSError:  # it is gone, or another user's
        return False


def _is_file(path: str, wanted: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), wanted)
    except OSError:  # closed meanwhile
        return False


def is_held(run_dir: Path) -> bool:
    """True while a live process works on the run."""
    return lock_holder(run_dir / LOCK) is not None


def status_of(run_dir: Path, facts: Mapping[str, Any]) -> str:
    """`running` only while a live process holds the run; a run that was killed is `interrupted`."""
    status = str(facts.get("status", ""))
    return "interrupted" if status == "running" and not is_held(run_dir) else status
