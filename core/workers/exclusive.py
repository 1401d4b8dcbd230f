"""Many jobs side by side, or one alone: a job whose score is a time must not share the machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class SharedExclusiveLock:
    """A lock for readers (ordinary jobs) and writers (jobs alone). Writers that wait go first."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._sharing = 0
        self._alone = False
        self._waiting = 0

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._changed:
            self._changed.wait_for(lambda: not self._alone and not self._waiting)
            self._sharing += 1
        try:
            yield
        finally:
            with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    def stay(self) -> None:
        """One more share, for one who has one: it is not waited for, and lasts until `go`, in whatever thread."""
        with self._changed:
            self._sharing += 1

    def go(self) -> None:
        """Give back a share that was taken by `stay`."""
        with self._changed:
            self._sharing -= 1
            self._changed.notify_all()

    def await_nobody(self, seconds: float) -> None:
        """Wait until nobody shares it, but no longer than that."""
        with self._changed:
            self._changed.wait_for(lambda: not self._sharing, seconds)

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._changed:
            self._waiting += 1
            self._changed.wait_for(lambda: not self._alone and not self._sharing)
            self._waiting -= 1
            self._alone = True
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()
