"""Seconds in which this process ran: Ctrl-Z, a container that is paused and a machine that sleeps take none of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

BEAT = 0.5
"""Seconds between two looks of the clock's own thread."""
STANDSTILL = 2.0
"""Seconds without a look, more than that, are a standstill; less, and the machine may have been busy with others."""
_IDLE = 0.5
"""Processor time, as a share of those seconds, from which we worked in them: a long call that lets no thread look."""


class AwakeClock:
    """A clock that only grows, and not while this process stands still. Linux's monotonic clock stops while the machine
    sleeps; what it does not know is that a process was held by SIGSTOP or SIGTSTP.

    That is seen by what was not done meanwhile, a thread's look twice a second: inside of `watched`, and only there.

    Args:
        clock, worked: seconds, and processor seconds of this process.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, worked: Callable[[], float] = time.process_time
    ) -> None:
        self._clock, self._worked = clock, worked
        self._counting = threading.RLock()  # a signal may come while its thread looks, and its handler may ask
        self._away = 0.0
        self._looked: tuple[float, float] | None = None
        """When a thread looked last, and the processor time then; None where nobody does by himself."""

    def __call__(self) -> float:
        with self._counting:
            now, worked = self._clock(), self._worked()
            if self._looked is not None:
                over, did = now - self._looked[0] - BEAT, worked - self._looked[1]
                if over > STANDSTILL and did < _IDLE * over:
                    self._away += over
                self._looked = max(self._looked, (now, worked))
            return now - self._away

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Inside, standstills are seen."""
        over = threading.Event()

        def look() -> None:
            while not over.wait(BEAT):
                self()

        self._looked = self._clock(), self._worked()
        thread = threading.Thread(target=look, daemon=True, name="awake")
        thread.start()
        try:
            yield
        finally:
            over.set()
            with self._counting:  # not while its thread is in the middle of a look
                self._looked = None
