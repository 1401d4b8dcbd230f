"""User ids for slots: as root each running candidate gets a number that nobody else on this machine uses.

A number is held by an abstract socket of that name, which the kernel frees when we die.
"""

from __future__ import annotations

import pwd
import socket
import threading

from utils.errors import SandboxError

_FIRST, _LAST = 64000, 64999


class UidPool:
    """Thread-safe."""

    def __init__(self) -> None:
        self._held: dict[int, socket.socket] = {}
        self._free: list[int] = []
        self._lock = threading.Lock()

    def take(self) -> int:
        with self._lock:
            return self._free.pop() if self._free else self._claim()

    def give_back(self, uid: int) -> None:
        with self._lock:
            self._free.append(uid)

    def close(self) -> None:
        with self._lock:
            for held in self._held.values():
                held.close()
            self._held.clear()
            self._free.clear()

    def _claim(self) -> int:
        for uid in range(_FIRST, _LAST + 1):
            if uid in self._held or _has_name(uid):
                continue
            lock = socket.socket(socket.AF_UNIX)
            try:
                lock.bind(f"\0swarm-evo-uid-{uid}")
            except OSError:
                lock.close()
                continue
            self._held[uid] = lock
            return uid
        raise SandboxError(f"no free user id between {_FIRST} and {_LAST} for another candidate")


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True
