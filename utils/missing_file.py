"""Whether a path is a file, and why it is none, in words."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def no_file(path: str | Path) -> str:
    """`no such file`, or that a folder is there."""
    return "that is a folder, and a file is wanted" if Path(path).is_dir() else "no such file"


def may_be_file(path: str | Path) -> bool:
    """Whether a file is there, or may be: in a folder that this user may not look into. Whoever opens it is told so."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except PermissionError:
        return True
    except OSError:
        return False
