"""A place for what all processes of a user share on this machine, where no home of theirs can be written to."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path


def users_folder() -> Path:
    """Below the system's temporary one; nobody else may write to it. A fresh one where somebody has taken its name."""
    shared = Path(tempfile.gettempdir()) / f"swarm-evo-{os.getuid()}"
    try:
        shared.mkdir(mode=0o700, exist_ok=True)
        found = shared.lstat()
    except OSError:
        return _fresh()
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
    return shared if ours else _fresh()


def _fresh() -> Path:
    return Path(tempfile.mkdtemp(prefix="swarm-evo-"))
