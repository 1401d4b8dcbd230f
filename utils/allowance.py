"""Allowance: the seconds that a run may take beside its search."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SHARE, LEAST = 0.1, 30.0


class Allowance:
    """Bounds baselines that a search waits for, second looks and final scores: together a tenth of the search's seconds
    (`SHARE`), and `LEAST` seconds where that is more. What does not fit is left out, and told; what is `within` it and
    still runs at its end is cut off.

    Of it, at most half goes to what comes before the search. Until `begin` nothing is bounded, and a blend of the best
    programs, which takes as long as it takes, is `beside` it. Thread-safe.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._spent = 0.0
        self._end = math.inf
        self._halted: float | None = None
        """When what is beside it began; None while nothing is."""
        self._cuts = False
        self.seconds = math.inf
        """What the end may take altogether."""

    @staticmethod
    def of(searched: float | None) -> float:
        """Seconds beside a search of so many; None: of a search without a limit."""
        return max(LEAST, SHARE * (searched or 0.0))

    def before(self, searched: float | None) -> float:
        """Seconds that what comes before a search of so many may take."""
        return self.of(searched) / 2

    def spend(self, seconds: float) -> None:
        """So many were taken before the search."""
        self._spent += seconds

    def begin(self, searched: float) -> None:
        """The search is over, after so many seconds: from now on the rest is running out."""
        self.seconds = max(self.of(searched) - self._spent, LEAST / 2)
        self._end = self._clock() + self.seconds

    @property
    def left(self) -> float:
        """Seconds, at least 0; infinite while nothing is bounded."""
        return max(0.0, self._end - (self._clock() if self._halted is None else self._halted))

    @property
    def until_cut(self) -> float:
        """Seconds after which programs that run are cut off; infinite but for what is done `within` it."""
        return self.left if self._cuts else math.inf

    @contextmanager
    def within(self, share: float = 1.0) -> Iterator[None]:
        """What is done in here has that share of what is left, and is cut off at its end."""
        end = self._end
        self._end, self._cuts = self._clock() + share * self.left, True
        try:
            yield
        finally:
            self._end, self._cuts = end, False

    @contextmanager
    def beside(self) -> Iterator[None]:
        """What is done in here takes nothing of it."""
        self._halted = began = self._clock()
        try:
            yield
        finally:
            self._end += self._clock() - began
            self._halted = None

    @property
    def told(self) -> str:
        """For whoever watches, behind what is done: `, at most 30 s`; '' while nothing is bounded."""
        return "" if math.isinf(self._end) else f", at most {self.seconds:.0f} s in all"
