"""Paths as a user writes them: `~` is a home where the system knows one, and itself where it knows none.

`Path.expanduser` and `Path.home` raise a RuntimeError there: for `~nobody`, and for `~` in a container whose user has
neither `HOME` nor an entry in `/etc/passwd`.
"""

from __future__ import annotations

import os
from pathlib import Path


def user_path(name: str | Path) -> Path:
    """`~/x` below the home; without one, as in a shell, a path that begins with a folder called `~`."""
    return Path(os.path.expanduser(name))


def home() -> Path | None:
    """The user's home; None where the system knows none."""
    found = os.path.expanduser("~")
    return None if found == "~" else Path(found)
