"""How long we wait for somebody else, counted in time in which this process ran."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

SLICE = 0.25
"""Seconds of one look at most: a look that takes much longer says that this process stood still meanwhile."""
STANDSTILL = 0.5
"""Seconds beyond what was asked for from which a look was one."""


class Patience:
    """A deadline that moves by the time in which this process itself stood still: after Ctrl-Z, on a machine that was
    halted. Nobody was late for us then, and what he took is not his.

    One thread looks; others may ask what is left, also when they are the first to run again.

    Args:
        seconds: until it is over.

    Attributes:
        away: seconds of standstill so far.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._due = math.inf
        """When the look under way is to be over."""
        self._counting = threading.Lock()
        self.away = 0.0

    @property
    def left(self) -> float:
        """Seconds until it is over; below 0 afterwards."""
        self._count_standstill()
        return self._end - time.monotonic()

    def look(self, poll: Callable[[float], Found]) -> Found:
        """What `poll` finds within the seconds that it is given: at most `SLICE`, 0 once it is over."""
        begun = time.monotonic()
        asked = max(0.0, min(self._end - begun, SLICE))
        self._due = begun + asked
        try:
            return poll(asked)
        finally:
            self._count_standstill()
            self._due = math.inf

    def _count_standstill(self) -> None:
        if time.monotonic() - self._due <= STANDSTILL:
            return
        with self._counting:
            over = time.monotonic() - self._due
            if over > STANDSTILL:  # else another thread has counted it
                self._due += over
                self._end += over
                self.away += over
