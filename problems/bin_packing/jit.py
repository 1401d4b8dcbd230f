"""Compiling by numba, whose cache is a folder of the user's own: the package may be installed read-only."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def _cache_folder() -> str:
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    try:
        folder = base / "swarm-evo" / "numba"
        folder.mkdir(parents=True, exist_ok=True)
        return str(folder)
    except OSError:
        return tempfile.mkdtemp(prefix="swarm-evo-numba-")


CACHE = Path(os.environ.setdefault("NUMBA_CACHE_DIR", _cache_folder()))
from numba import njit  # noqa: E402  (the cache folder must be set first)


def is_cached() -> bool:
    """True where this machine has compiled something of ours before: what is kept is read again in a moment."""
    return any(CACHE.rglob("*.nbc"))


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function as machine code, made at its first call or read from the cache; it lets other threads run."""
    machine_code: Callable[P, R] = njit(cache=True, nogil=True)(function)
    return machine_code
