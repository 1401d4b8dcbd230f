"""Compiling by numba, whose cache is a folder of the user's own: the package may be installed read-only."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import ParamSpec, TypeVar

from utils.collector import no_collections
from utils.user_path import home
from utils.users_folder import users_folder

P = ParamSpec("P")
R = TypeVar("R")


def _cache_folder() -> Path:
    """The first that can be written to: numba refuses to compile where none of its places can."""
    for folder in _places():
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK | os.X_OK):
                return folder
    folder = users_folder() / "numba"
    folder.mkdir(exist_ok=True)
    return folder


def _places() -> Iterator[Path]:
    if told := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(told)
    if told := os.environ.get("XDG_CACHE_HOME"):
        yield Path(told) / "swarm-evo" / "numba"
    if own := home():
        yield own / ".cache" / "swarm-evo" / "numba"


CACHE = _cache_folder()
os.environ["NUMBA_CACHE_DIR"] = str(CACHE)
with no_collections():
    from numba import njit  # the cache folder must be set first


def is_cached() -> bool:
    """True where this machine has compiled something of ours before: what is kept is read again in a moment."""
    return any(CACHE.rglob("*.nbc"))


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function as machine code, made at its first call or read from the cache; it lets other threads run."""
    machine_code: Callable[P, R] = njit(cache=True, nogil=True)(function)
    return machine_code
