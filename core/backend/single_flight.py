"""Equal calls at once: one flies, the others wait and read its record."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class SingleFlight:
    """One flight at a time for each key: who comes second waits, and finds the first one's answer in the record."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders: dict[tuple[str, str], tuple[threading.Lock, int]] = {}

    @contextmanager
    def hold(self, key: tuple[str, str]) -> Iterator[None]:
        with self._lock:
            lock, holders = self._holders.get(key) or (threading.Lock(), 0)
            self._holders[key] = (lock, holders + 1)
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, holders = self._holders[key]
                if holders == 1:
                    del self._holders[key]
                else:
                    self._holders[key] = (lock, holders - 1)
