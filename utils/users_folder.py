"""A place for what all processes of a user share on this machine, where no home of theirs can be written to."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from utils.scratch_folders import PREFIX, hold


def users_folder() -> Path:
    """Below the system's temporary one; nobody else may write to it.

    A fresh one where somebody has taken its name, which is swept once this process is gone.
    """
    if (lasting := lasting_folder()) is not None:
        return lasting
    fresh = Path(tempfile.mkdtemp(prefix=PREFIX))
    hold(fresh)
    return fresh


def lasting_folder() -> Path | None:
    """The same, None where somebody has taken its name: for what only a later process finds of use."""
    shared = Path(tempfile.gettempdir()) / f"{PREFIX}{os.getuid()}"
    try:
        shared.mkdir(mode=0o700, exist_ok=True)
        found = shared.lstat()
    except OSError:
        return None
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
    return shared if ours else None
