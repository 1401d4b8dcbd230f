"""Repeats a call while the server is busy, by `tenacity`; the retries of the SDKs are switched off."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from math import inf
from typing import TYPE_CHECKING, NoReturn, TypeVar

from utils.errors import BackendBusyError, BackendError, BudgetExhausted, Interrupted, RunStopped

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")
_STOPPED = "stopped while waiting for a model"
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
    """Repeats calls and waits in between. All threads of a run share it.

    Args:
        stop: ends every wait and every call at once when it is set.
        ending: set when the user wants the end in good order: no wait outlives it, and what waits is not begun. None
            for `stop` alone.
        seconds_left: → seconds until the run's time budget ends. No wait outlives it, and no call begins after it.
    """

    def __init__(
        self,
        stop: threading.Event,
        jitter: random.Random | None = None,
        seconds_left: Callable[[], float] = lambda: inf,
        ending: threading.Event | None = None,
    ) -> None:
        self.stop = stop
        self._ending = ending or stop
        self._jitter = jitter or random.Random()
        self._seconds_left = seconds_left

    def sleep(self, seconds: float) -> None:
        """Wait, also for 0 seconds.

        Raises:
            RunStopped: `stop` is set. Interrupted: `ending` is, and there is something to wait for.
            BudgetExhausted: the run's time ends before the wait does.
        """
        self._check_time(seconds)
        if seconds > 0:
            self._ending.wait(seconds)
            self.check_waiting()
        elif self.stop.is_set():
            raise RunStopped(_STOPPED)

    def check_waiting(self) -> None:
        """For who waits before a call: RunStopped or Interrupted once the user wants the end."""
        if self.stop.is_set():
            raise RunStopped(_STOPPED)
        if self._ending.is_set():
            raise Interrupted("interrupted")

    def call(
        self, send: Callable[[int], T], policy: RetryPolicy, notice: Callable[[str, float], None] = lambda text, s: None
    ) -> T:
        """Return `send(attempt)`; while the server is busy, wait and try again.

        Args:
            send: called with 1, 2, …
            notice: called with the reason and the seconds before each wait.
        Raises:
            BackendBusyError: still busy after the last attempt. BudgetExhausted: the time for another one is over.
                Any other error passes at once.
        """
        try:
            return send(1)
        except BackendBusyError as error:
            first = error
        import tenacity  # loaded by the first server that is busy

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(BackendBusyError),
            stop=tenacity.stop_after_attempt(policy.attempts),
            wait=lambda state: self._wait(_busy(state), policy, state.attempt_number + 1),
            sleep=self.sleep,
            before_sleep=lambda state: notice(str(_busy(state)), state.upcoming_sleep),
            retry_error_callback=lambda state: _give_up(_busy(state), policy.attempts),
        )
        numbers = count(1)

        def attempt() -> T:
            number = next(numbers)
            if number == 1:
                raise first
            return send(number)

        return retrying(attempt)

    def _wait(self, busy: BackendBusyError, policy: RetryPolicy, attempt: int) -> float:
        """Seconds before try `attempt`: what the server asks for, or our own plan where it asks for nothing."""
        if attempt > policy.attempts:
            return 0.0  # tenacity asks for the wait also after the last try, where nobody waits
        if not busy.retry_after:
            seconds = policy.wait_before(attempt, self._jitter)
        elif busy.retry_after > LONGEST_WAIT:
            raise BackendError(f"{busy}; it asks to wait {busy.retry_after:.0f} s, more than {LONGEST_WAIT:.0f} s")
        else:
            seconds = busy.retry_after * (1 + 0.1 * self._jitter.random())
        self._check_time(seconds, f" again: {busy}")  # now: nobody is to be told of a wait that will not be
        return seconds

    def _check_time(self, seconds: float, more: str = "") -> None:
        if not self.stop.is_set() and self._seconds_left() <= max(0.0, seconds):
            raise BudgetExhausted(f"budget.seconds: it ends before a model can be asked{more}")


def _busy(state: RetryCallState) -> BackendBusyError:
    """The error of the try that has just failed."""
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, BackendBusyError)
    return error


def _give_up(busy: BackendBusyError, attempts: int) -> NoReturn:
    often = f" (after {attempts} attempts)" if attempts > 1 else ""
    raise type(busy)(f"{busy}{often}", busy.retry_after)
