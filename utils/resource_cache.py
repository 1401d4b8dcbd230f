"""Things that are made when first asked for and live as long as their owner."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol, TypeVar, cast

from utils.thread_pool import threads


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
            found = self._things.get(key)
            if found is not None:
                return cast(T, found)
            made = make()
            with self._lock:
                is_closed = self._closed
                if not is_closed:
                    self._things[key] = made
            if is_closed:
                made.close()
                raise RuntimeError(f"{key}: its owner is closed")
            return made

    def drop(self, key: str, broken: Closeable) -> None:
        """Close what is broken; the next who asks makes a new one. Nothing happens where somebody has one already."""
        with self._lock:
            if self._things.get(key) is not broken:
                return
            del self._things[key]
        broken.close()

    def close(self) -> None:
        """Close everything, all at once: each waits for a process to end. What is made meanwhile is closed at once."""
        with self._lock:
            self._closed, things = True, list(self._things.values())
            self._things = {}
        with threads(max(1, len(things)), "closing") as pool:
            for closed in [pool.submit(thing.close) for thing in things]:
                closed.result()
