"""What `problem.build` made of a tree, kept for the next tree with equal inputs: the newest, and those in use."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from problems.command.tree.fresh_folders import OLD, locked, sweep

MOST_BUILDS = 24
"""Builds of one base that are kept beside those in use: the newest."""


@contextmanager
def in_use(build: Path) -> Iterator[bool]:
    """True inside of the `with` where the build is there: nobody, in whatever process, takes it away meanwhile."""
    handle = locked(build, fcntl.LOCK_SH)
    try:
        if handle is not None:
            os.utime(build)
        yield handle is not None
    finally:
        if handle is not None:
            os.close(handle)


@contextmanager
def kept(fresh: Path, build: Path) -> Iterator[Path]:
    """Give the folder `fresh`, which lies beside it, the build's place; where it lies now, in use in the `with`."""
    with in_use(fresh):
        place = build
        try:
            fresh.rename(build)
        except OSError:  # another worker was faster
            place = fresh
        builds = sorted((one for one in build.parent.iterdir() if one.name[0] != "."), key=_last_used)
        for old in builds[: max(0, len(builds) - MOST_BUILDS)]:
            _take_away(old)
        sweep(build.parent)
        yield place
    if place == fresh:
        shutil.rmtree(fresh, ignore_errors=True)


def _take_away(build: Path) -> None:
    """Remove a build that nobody uses: under another name first, so that nobody begins to."""
    handle = locked(build, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if handle is None:
        return
    try:
        with suppress(OSError):
            gone = Path(tempfile.mkdtemp(prefix=OLD, dir=build.parent))
            build.rename(gone / build.name)
            shutil.rmtree(gone, ignore_errors=True)
    finally:
        os.close(handle)


def _last_used(build: Path) -> float:
    """Seconds since the epoch; 0 for one that another worker has just removed."""
    try:
        return build.stat().st_mtime
    except FileNotFoundError:
        return 0.0
