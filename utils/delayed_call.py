"""A piece of work that is done a little later, for all that asked for it meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress


class DelayedCall:
    """Calls `work` in a thread of its own, once, so many seconds after the first `ask` since the last time.

    While it is asked again and again its thread looks by itself whether it was: to wake another takes longer than most
    of what asks for it. Thread-safe. What `work` raises is passed over: it is meant for work that somebody else will
    have to do otherwise.
    """

    def __init__(self, work: Callable[[], None], seconds: float) -> None:
        self._work = work
        self._seconds = seconds
        self._asked = threading.Event()
        self._due = 0.0
        """When it is to be done, by the monotonic clock; of account once it is asked for."""
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def ask(self) -> None:
        """Have it done."""
        if self._thread is None:
            self._start()
        if not self._asked.is_set():
            self._due = time.monotonic() + self._seconds
            self._asked.set()

    def close(self) -> None:
        """No further call; waits for one under way."""
        self._over.set()
        self._asked.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _start(self) -> None:
        with self._starting:  # one thread, whoever asks first: `close` waits for one
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="delayed-call", daemon=True)
                thread.start()
                self._thread = thread

    def _run(self) -> None:
        while not self._over.wait(self._seconds):
            if not self._asked.is_set():  # nobody asked meanwhile: whoever does next wakes us
                self._asked.wait()
            if self._over.wait(max(0.0, self._due - time.monotonic())):
                return
            self._asked.clear()
            if self._over.is_set():  # asked by `close`: nobody asks again
                return
            with suppress(Exception):  # whoever writes next meets it again, in a thread that can tell
                self._work()
