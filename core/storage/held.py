"""Who works on a run: the kernel's lock on its `run.lock` says whether somebody does."""

from __future__ import annotations

import fcntl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LOCK = "run.lock"
"""Below the run's folder; holds the process id of who holds the lock."""


def is_held(run_dir: Path) -> bool:
    """True while a live process works on the run."""
    try:
        with (run_dir / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def status_of(run_dir: Path, facts: Mapping[str, Any]) -> str:
    """`running` only while a live process holds the run; a run that was killed is `interrupted`."""
    status = str(facts.get("status", ""))
    return "interrupted" if status == "running" and not is_held(run_dir) else status
