"""Interrupts: Ctrl-C or SIGTERM once ends a search in good order, twice at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """What the user asked for by signals; both events can also be set by hand.

    Args:
        on_finish: told of the first signal and whether the search is over, inside its handler: it may take no lock.
    """

    def __init__(self, on_finish: Callable[[bool], None] = lambda search_is_over: None) -> None:
        self.finish = threading.Event()
        """Finish what is in flight, begin nothing more."""
        self.now = threading.Event()
        """Give up what is in flight."""
        self.search_is_over = False
        """Set by who leads the run: what is left is the final scoring, which a first signal does not stop."""
        self._on_finish = on_finish

    @contextmanager
    def handled(self) -> Iterator[None]:
        """Signals set the events inside; only a process's main thread can handle them, others run as they are. SIGINT
        that was ignored when the process began stays so: it is meant for whoever is in front."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        for number, handler in before.items():
            if (number, handler) != (signal.SIGINT, signal.SIG_IGN):
                signal.signal(number, self._on_signal)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self.finish.is_set():
            self.finish.set()
            self._on_finish(self.search_is_over)
            return
        self.now.set()
        raise KeyboardInterrupt
