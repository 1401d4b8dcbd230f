"""How long the search of a run has been worked on."""

from __future__ import annotations

import time
from collections.abc import Callable


class SearchClock:
    """Seconds of the search, all its processes added up. They grow from its begin to its end: what is made ready
    before, and baselines that it waits for, take nothing of its budget.

    Until a search is `prepared` for, as for steps by hand, they grow all the time.

    Args:
        clock: seconds in which this process ran.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.before = 0.0
        """Of earlier processes."""
        self._began: float | None = clock()
        self._ended: float | None = None

    def prepare(self) -> None:
        """What comes now is not the search yet."""
        self._began = None

    def begin(self) -> None:
        self._began = self._clock()

    def end(self) -> None:
        self._ended = self._clock()

    def seconds(self) -> float:
        return self.before if self._began is None else self.before + (self._ended or self._clock()) - self._began

    def since_end(self) -> float:
        """Seconds; 0 before it."""
        return 0.0 if self._ended is None else self._clock() - self._ended
