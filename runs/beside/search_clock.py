"""How long the search of a run has been worked on."""

from __future__ import annotations

import time


class SearchClock:
    """Seconds of the search, all its processes added up. They grow from its begin to its end: what is made ready
    before, and baselines that it waits for, take nothing of its budget.

    Until a search is `prepared` for, as for steps by hand, they grow all the time.
    """

    def __init__(self) -> None:
        self.before = 0.0
        """Of earlier processes."""
        self._began: float | None = time.monotonic()
        self._ended: float | None = None

    def prepare(self) -> None:
        """What comes now is not the search yet."""
        self._began = None

    def begin(self) -> None:
        self._began = time.monotonic()

    def end(self) -> None:
        self._ended = time.monotonic()

    def seconds(self) -> float:
        return self.before if self._began is None else self.before + (self._ended or time.monotonic()) - self._began

    def since_end(self) -> float:
        """Seconds; 0 before it."""
        return 0.0 if self._ended is None else time.monotonic() - self._ended
