"""Room on the disk, kept while a process works on a run: once the disk is full, the store can still be told."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NAME = "reserve"
"""File of the run's folder; one that a killed process left is made anew by the next."""
SIZE = 1 << 18
"""Bytes: what waits for a transaction seldom takes a quarter of it, and why the run broke off takes a tenth."""


@contextmanager
def reserved(run_dir: Path) -> Iterator[None]:
    """Keep the room for as long as the block runs. A disk that is full already, or refuses, has none to keep."""
    release(run_dir)
    with suppress(OSError):
        handle = os.open(run_dir / NAME, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            os.posix_fallocate(handle, 0, SIZE)
        finally:
            os.close(handle)
    try:
        yield
    finally:
        release(run_dir)


def release(run_dir: Path) -> None:
    """Give the room back to the disk, where it is kept."""
    with suppress(OSError):
        os.unlink(run_dir / NAME)
