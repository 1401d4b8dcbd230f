"""Things that are made once for all workers of a session."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(places: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The session's folder of that name, filled by `make` in the first worker that asks; the others wait for it."""
    worker = places.getbasetemp()
    top = worker.parent if "PYTEST_XDIST_WORKER" in os.environ else worker
    folder = top / f"once-{name}"
    with (top / f"once-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            unfinished = top / f"once-{name}.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder
