"""User ids for slots: as root each running candidate gets a number that nobody else on this machine uses.

A number is held by an abstract socket of that name, which the kernel frees when we die. It is given to the next when
nothing of the last one is left: the kernel counts the processes of a user, also those that are only just ending.
"""

from __future__ import annotations

import os
import pwd
import signal
import socket
import threading

from utils.errors import SandboxError

_FIRST, _LAST = 64000, 64999


class UidPool:
    """Thread-safe."""

    def __init__(self) -> None:
        self._held: dict[int, socket.socket] = {}
        self._free: list[int] = []
        self._ending: list[tuple[int, int]] = []
        """Numbers and pidfds of processes that had them."""
        self._closed = False
        self._lock = threading.Lock()

    def take(self) -> int:
        """Raises SandboxError once the pool is closed: a number that was claimed then would be held by nobody."""
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox is closed")
            if not self._free:
                self._look()
            return self._free.pop() if self._free else self._claim()

    def give_back(self, uid: int, last: int | None = None) -> None:
        """
        Args:
            last: pidfd, ours from here on, of the process that outlives all others of this number.
        """
        with self._lock:
            if self._closed:  # a worker that ends behind us; its number is free already
                if last is not None:
                    os.close(last)
            elif last is None:
                self._free.append(uid)
            else:
                self._ending.append((uid, last))

    def _look(self) -> None:
        """Which numbers nobody has any more."""
        ending, self._ending = self._ending, []
        for uid, last in ending:
            if _is_there(last):
                self._ending.append((uid, last))
            else:
                os.close(last)
                self._free.append(uid)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for held in self._held.values():
                held.close()
            for _, last in self._ending:
                os.close(last)
            self._held.clear()
            self._free.clear()
            self._ending.clear()

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


def _is_there(process: int) -> bool:
    """True until the process behind the pidfd has been waited for."""
    try:
        signal.pidfd_send_signal(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's: it is there
        return True
    return True


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True
