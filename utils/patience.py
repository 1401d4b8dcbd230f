"""How long we wait for somebody else, counted in time in which this process ran."""

from __future__ import annotations

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

    Args:
        seconds: until it is over.

    Attributes:
        away: seconds of standstill so far.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self.away = 0.0

    @property
    def left(self) -> float:
        """Seconds until it is over; below 0 afterwards."""
        return self._end - time.monotonic()

    def look(self, poll: Callable[[float], Found]) -> Found:
        """What `poll` finds within the seconds that it is given: at most `SLICE`, 0 once it is over."""
        begun = time.monotonic()
        asked = max(0.0, min(self._end - begun, SLICE))
        found = poll(asked)
        over = time.monotonic() - begun - asked
        if over > STANDSTILL:
            self.away += over
            self._end += over
        return found
