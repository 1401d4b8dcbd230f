"""Retries in one place; the SDKs' own are switched off."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from utils.errors import BackendBusyError, BackendError, RunStopped

T = TypeVar("T")
LONGEST_WAIT = 900.0
"""Seconds. A server that asks for more than that is as good as gone for this run."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`attempts` tries; between them `backoff`, 2, 4 and at most 8 times `backoff` seconds."""

    attempts: int = 5
    backoff: float = 10.0

    def wait_before(self, attempt: int, jitter: random.Random) -> float:
        """Seconds before try `attempt` (2, 3, …): up to a quarter more than the plan, so that clients spread out."""
        planned = self.backoff * min(2.0 ** (attempt - 2), 8.0)
        return planned * (1 + 0.25 * jitter.random())


class Retrier:
    """Sleeps that a set `stop` ends at once. One for each run, shared by all its threads."""

    def __init__(self, stop: threading.Event, jitter: random.Random | None = None) -> None:
        self.stop = stop
        self._jitter = jitter or random.Random()

    def sleep(self, seconds: float) -> None:
        if (seconds > 0 and self.stop.wait(seconds)) or self.stop.is_set():
            raise RunStopped("stopped while waiting for a model")

    def call(
        self, send: Callable[[int], T], policy: RetryPolicy, notice: Callable[[str, float], None] = lambda text, s: None
    ) -> T:
        """Return `send(attempt)`; while the server is busy, wait and try again.

        Args:
            send: called with 1, 2, …
            notice: told the reason and the seconds of each wait.
        Raises:
            BackendBusyError: still busy after the last attempt. Any other error passes at once.
        """
        for attempt in range(1, policy.attempts + 1):
            try:
                return send(attempt)
            except BackendBusyError as error:
                busy = error
            if attempt == policy.attempts:
                break
            wait = self._wait(busy, policy, attempt + 1)
            notice(str(busy), wait)
            self.sleep(wait)
        often = f" (after {policy.attempts} attempts)" if policy.attempts > 1 else ""
        raise type(busy)(f"{busy}{often}", busy.retry_after)

    def _wait(self, busy: BackendBusyError, policy: RetryPolicy, attempt: int) -> float:
        """What the server asks for, never less; our own plan where it asks for nothing."""
        if not busy.retry_after:
            return policy.wait_before(attempt, self._jitter)
        if busy.retry_after > LONGEST_WAIT:
            raise BackendError(f"{busy}; it asks to wait {busy.retry_after:.0f} s, more than {LONGEST_WAIT:.0f} s")
        return busy.retry_after * (1 + 0.1 * self._jitter.random())
