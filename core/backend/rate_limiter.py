"""Concurrency and requests a minute of one provider, shared by all threads of a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from core.backend.retry import Retrier


class RateLimiter:
    """At most `concurrency` calls at once and `per_minute` starts a minute, evenly spaced.

    Args:
        per_minute: None for no limit.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        concurrency: int,
        per_minute: float | None,
        patience: Retrier,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._places = threading.Semaphore(concurrency)
        self._spacing = 60.0 / per_minute if per_minute else 0.0
        self._patience = patience
        self._clock = clock
        self._lock = threading.Lock()
        self._next_start = 0.0

    @contextmanager
    def passage(self) -> Iterator[None]:
        """Wait for a place and for the turn, then hold the place."""
        while not self._places.acquire(timeout=0.2):
            self._patience.sleep(0)
        try:
            self._patience.sleep(self._turn() - self._clock())
            yield
        finally:
            self._places.release()

    def pause(self, seconds: float) -> None:
        """Let nobody start for `seconds`: the server told one of us that all are too many."""
        with self._lock:
            self._next_start = max(self._next_start, self._clock() + seconds)

    def _turn(self) -> float:
        with self._lock:
            start = max(self._clock(), self._next_start)
            self._next_start = start + self._spacing if self._spacing else self._next_start
            return start
