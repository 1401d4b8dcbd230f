"""Whether a program has left its process as it found it, so that it may be loaded there again for another use.

Looked at is what is cheap to look at. Nothing here is trusted: the program shares the process and can make the look say
what it likes. What it keeps that way, it keeps from itself.
"""

from __future__ import annotations

import atexit
import builtins
import gc
import os
import signal
import sys
import threading
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from . import mounts

LEAVE, AGAIN = b"leave", b"again "
"""Frames from the host: let go of the program; load it once more with the seed that follows."""
_SIGNALS = (
    signal.SIGALRM,
    signal.SIGVTALRM,
    signal.SIGPROF,
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
_TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
_MOST_GROWTH = 64 << 20
"""Bytes that the process may keep of one program's use after all its names are gone."""


class Found:
    """How a process is before a program is loaded."""

    def __init__(self) -> None:
        self._modules = dict(sys.modules)
        self._imported: list[tuple[ModuleType, dict[str, int]]] = []
        self._state = _state()
        self._memory = _resident()

    def note_imports(self, names: Mapping[str, Any]) -> None:
        """After loading: what the modules hold that the program has names for."""
        modules = {id(value): value for value in names.values() if isinstance(value, ModuleType)}
        self._imported = [(module, _ids(vars(module))) for module in modules.values()]

    def is_left(self) -> bool:
        """After all names of the program are gone: True if the process is as it was found."""
        gc.collect()
        return (
            all(sys.modules.get(name) is module for name, module in self._modules.items())
            and all(_ids(vars(module)) == held for module, held in self._imported)
            and _state() == self._state
            and _resident() - self._memory <= _MOST_GROWTH
        )


def _state() -> tuple[object, ...]:
    """What a program can change outside of its own names, all as plain data."""
    own_machine = os.environ.get("HOME") == mounts.WORKSPACE  # elsewhere it is everybody's memory that is listed
    folders = (".", os.environ.get("TMPDIR", "/tmp"), "/proc/self/fd", *(["/dev/shm"] if own_machine else []))
    return (
        _ids(vars(builtins)), _ids(vars(sys)), [id(entry) for entry in sys.path], dict(os.environ), os.getcwd(),
        sys.getrecursionlimit(), sys.getswitchinterval(), id(sys.gettrace()), id(sys.getprofile()),
        gc.isenabled(), gc.get_threshold(), threading.active_count(), atexit._ncallbacks(),
        [id(signal.getsignal(number)) for number in _SIGNALS], [signal.getitimer(timer) for timer in _TIMERS],
        [_listed(folder) for folder in folders],
    )  # fmt: skip


def _ids(names: Mapping[str, Any]) -> dict[str, int]:
    return {name: id(value) for name, value in names.items()}


def _listed(folder: str) -> list[str] | None:
    try:
        return sorted(os.listdir(folder))
    except OSError:  # not every tier shows it
        return None


def _resident() -> int:
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
