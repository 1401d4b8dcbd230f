"""Repeats a call while the server is busy, by `tenacity`; the retries of the SDKs are switched off."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, NoReturn, TypeVar

from utils.errors import BackendBusyError, BackendError, RunStopped

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")
LONGEST_WAIT = 900.0
"""Seconds. A server that asks for more than that is as good as gone for this run."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a call is tried and how long to wait in between.

    There are `attempts` tries; before the second one the wait is `backoff` seconds, then 2, 4 and at most 8 times that.
    """

    attempts: int = 5
    backoff: float = 10.0

    def wait_before(self, attempt: int, jitter: random.Random) -> float:
        """Seconds before try `attempt` (2, 3, …): up to a quarter more than planned, so that clients spread out."""
        planned = self.backoff * min(2.0 ** (attempt - 2), 8.0)
        return planned * (1 + 0.25 * jitter.random())


class Retrier:
    """Repeats calls and waits in between; a set `stop` event ends every wait at once. All threads of a run share it."""

    def __init__(self, stop: threading.Event, jitter: random.Random | None = None) -> None:
        self.stop = stop
        self._jitter = jitter or random.Random()

    def sleep(self, seconds: float) -> None:
        """Wait. Raises RunStopped when `stop` is set, also for a wait of 0 seconds."""
        if (seconds > 0 and self.stop.wait(seconds)) or self.stop.is_set():
            raise RunStopped("stopped while waiting for a model")

    def call(
        self, send: Callable[[int], T], policy: RetryPolicy, notice: Callable[[str, float], None] = lambda text, s: None
    ) -> T:
        """Return `send(attempt)`; while the server is busy, wait and try again.

        Args:
            send: called with 1, 2, …
            notice: called with the reason and the seconds before each wait.
        Raises:
            BackendBusyError: still busy after the last attempt. Any other error passes at once.
        """
        import tenacity  # loaded by the first call of a model

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(BackendBusyError),
            stop=tenacity.stop_after_attempt(policy.attempts),
            wait=lambda state: self._wait(_busy(state), policy, state.attempt_number + 1),
            sleep=self.sleep,
            before_sleep=lambda state: notice(str(_busy(state)), state.upcoming_sleep),
            retry_error_callback=lambda state: _give_up(_busy(state), policy.attempts),
        )
        numbers = count(1)
        return retrying(lambda: send(next(numbers)))

    def _wait(self, busy: BackendBusyError, policy: RetryPolicy, attempt: int) -> float:
        """Seconds before try `attempt`: what the server asks for, or our own plan where it asks for nothing."""
        if attempt > policy.attempts:
            return 0.0  # tenacity asks for the wait also after the last try, where nobody waits
        if not busy.retry_after:
            return policy.wait_before(attempt, self._jitter)
        if busy.retry_after > LONGEST_WAIT:
            raise BackendError(f"{busy}; it asks to wait {busy.retry_after:.0f} s, more than {LONGEST_WAIT:.0f} s")
        return busy.retry_after * (1 + 0.1 * self._jitter.random())


def _busy(state: RetryCallState) -> BackendBusyError:
    """The error of the try that has just failed."""
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, BackendBusyError)
    return error


def _give_up(busy: BackendBusyError, attempts: int) -> NoReturn:
    often = f" (after {attempts} attempts)" if attempts > 1 else ""
    raise type(busy)(f"{busy}{often}", busy.retry_after)
