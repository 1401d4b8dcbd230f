"""Games kept in memory, for matches outside of a run."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from core.events import Event


class MemoryBook:
    """Implements `GameBook` without a store."""

    def __init__(self) -> None:
        self._games: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()

    def get(self, key: str) -> dict[str, Any] | None:
        return self._games.get(key)

    def put(self, key: str, game: dict[str, Any], events: Sequence[Event]) -> None:
        with self._lock:
            self._games.setdefault(key, game)

    def all(self) -> list[dict[str, Any]]:
        with self._lock:
            return list(self._games.values())
