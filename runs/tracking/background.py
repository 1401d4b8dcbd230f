"""BackgroundSink: a tracker on a thread of its own, so that a slow or broken one costs the search nothing."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from core.events import Event
from runs.facts import RunFacts
from utils.counts import counted
from utils.logger_system import log_msg

MOST_WAITING = 10_000
"""Events that may wait for a tracker; later ones are counted as lost, and told."""
PATIENCE = 15.0
"""Seconds that the end of a run waits for what is still to be delivered."""
MOMENT = 1.0
"""Seconds after which whoever watches hears what it waits for."""


class Tracker(Protocol):
    """What a tracker is made of: `Tracker(facts)`, called on one thread."""

    def emit(self, event: Event) -> None:
        """Tell of one event; what it raises is a warning, once."""

    def close(self) -> None:
        """Deliver what is left."""


class TrackerClass(Protocol):
    def __call__(self, facts: RunFacts) -> Tracker: ...


class BackgroundSink:
    """Queues events for a tracker.

    Args:
        key: its configuration key, for warnings.
        make: makes the tracker, on the thread: heavy imports and first connections do not delay the search.
    """

    def __init__(self, key: str, make: TrackerClass, facts: RunFacts) -> None:
        self._key, self._make, self._facts = key, make, facts
        self._waiting: queue.Queue[Event | None] = queue.Queue(MOST_WAITING)
        self._lost = 0
        self._failed = ""
        self._failures = 0
        self._thread = threading.Thread(target=self._work, name=key, daemon=True)
        self._thread.start()

    def emit(self, event: Event) -> None:
        """Never waits, never raises."""
        try:
            self._waiting.put_nowait(event)
        except queue.Full:
            self._lost += 1

    def close(self, say: Callable[[str], None]) -> None:
        """Wait for the rest, not for ever; what was not delivered is a warning in the log.

        Args:
            say: hears that too, and what the end waits for.
        """
        until = time.monotonic() + PATIENCE
        while self._thread.is_alive() and time.monotonic() < until:
            try:
                self._waiting.put(None, timeout=0.1)
                break
            except queue.Full:
                continue
        self._thread.join(MOMENT)
        if self._thread.is_alive():
            say(f"{self._key}: the end waits up to {PATIENCE:g} s for what is still to be delivered")
        self._thread.join(max(0.0, until - time.monotonic()))
        lost = self._lost + (self._waiting.qsize() if self._thread.is_alive() else 0)
        if self._failed or lost or self._thread.is_alive():
            why = self._failed or f"it did not take all within {PATIENCE:g} s"
            often = f"; it failed {self._failures} times" if self._failures > 1 else ""
            told = f"{self._key}: {why}{often}" + (
                f"; {counted(lost, 'event was', 'events were')} not told" if lost else ""
            )
            log_msg("WARNING", told)
            say(told)

    def _work(self) -> None:
        tracker: Tracker | None = None
        with self._kept():
            tracker = self._make(self._facts)
        while (event := self._waiting.get()) is not None:
            if tracker is None:
                self._lost += 1
            else:
                with self._kept():
                    tracker.emit(event)
        if tracker is not None:
            with self._kept():
                tracker.close()

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """The first thing that a tracker raises is kept as the reason; it is asked again with the next event."""
        try:
            yield
        except BaseException as error:  # noqa: BLE001 - a foreign library's, of any kind, SystemExit too: no run depends on it
            self._failed = self._failed or f"{type(error).__name__}: {error}"[:300]
            self._failures += 1
