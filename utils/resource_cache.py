"""Things that are made when first asked for and live as long as their owner."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol, TypeVar, cast


class Closeable(Protocol):
    def close(self) -> None: ...


T = TypeVar("T", bound=Closeable)


class ResourceCache:
    """Key → thing. Thread-safe: of two who ask at once for the same key, one makes it and the other waits."""

    def __init__(self) -> None:
        self._things: dict[str, Closeable] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()
        self._closed = False

    def get(self, key: str, make: Callable[[], T]) -> T:
        """The thing of that key, made now if there is none. What `make` raises is raised, and nothing is kept.

        Raises:
            RuntimeError: the owner is closed.
        """
        with self._lock:
            own = self._locks.setdefault(key, threading.Lock())
        with own:
            if key not in self._things:
                made = make()
                with self._lock:
                    if not self._closed:
                        self._things[key] = made
                if self._closed:
                    made.close()
                    raise RuntimeError(f"{key}: its owner is closed")
            return cast(T, self._things[key])

    def drop(self, key: str) -> None:
        """Close the thing of that key, if there is one; the next who asks makes a new one."""
        with self._lock:
            thing = self._things.pop(key, None)
        if thing is not None:
            thing.close()

    def close(self) -> None:
        """Close everything; what is made meanwhile is closed at once."""
        with self._lock:
            self._closed, things = True, list(self._things.values())
            self._things = {}
        for thing in things:
            thing.close()
