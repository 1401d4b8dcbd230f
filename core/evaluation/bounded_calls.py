"""Several calls of one program, with one time limit for all of them together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from core.contracts import Session, SessionFailure
from core.state.failure import FailureKind

_LEAST = 0.001
"""Seconds of a call that begins when the time is over: the session says so."""


class BoundedCalls:
    """A session of which each call may take what those before it have left.

    Args:
        seconds: for all calls from now on.
    """

    def __init__(self, session: Session, seconds: float) -> None:
        self._session, self._seconds = session, seconds
        self._end = time.monotonic() + seconds
        self._calls = 0

    def call(self, function: str, args: Sequence[Any]) -> Any:
        """As `Session.call`."""
        return self.call_many(function, [args])[0]

    def call_many(self, function: str, batch: Sequence[Sequence[Any]]) -> list[Any]:
        """As `Session.call_many`: one frame."""
        left = max(_LEAST, self._end - time.monotonic())
        self._calls += 1
        try:
            return self._session.call_many(function, batch, timeout=left)
        except SessionFailure as failure:
            if failure.result.failure is not FailureKind.TIMEOUT or self._calls == 1:
                raise
            message = f"wall clock: {self._seconds:g} s for all calls together were over"
            raise SessionFailure(failure.result.model_copy(update={"message": message})) from failure
        finally:
            self._end += self._session.away
