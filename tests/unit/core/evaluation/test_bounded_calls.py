"""One time limit for several calls of a program."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.contracts import ExecutionResult, SessionFailure
from core.evaluation.bounded_calls import BoundedCalls
from core.state.failure import FailureKind


@pytest.fixture
def clock(monkeypatch):
    found = SimpleNamespace(now=1000.0)
    monkeypatch.setattr("core.evaluation.bounded_calls.time", SimpleNamespace(monotonic=lambda: found.now))
    return found


class Calls:
    """A session each of whose calls takes so many seconds, and while it is under way this process stands still."""

    def __init__(self, clock, took, away=0.0):
        self._clock, self._took = clock, took
        self.away, self.limits = away, []

    def call_many(self, function, batch, *, timeout):
        self.limits.append(timeout)
        self._clock.now += self._took + self.away
        if self._took > timeout:
            result = ExecutionResult(failure=FailureKind.TIMEOUT, message="late")
            raise SessionFailure(result)
        return [0 for _ in batch]


def test_each_call_may_take_what_those_before_it_have_left(clock):
    session = Calls(clock, took=4.0)
    bounded = BoundedCalls(session, 10.0)
    bounded.call("f", [1])
    bounded.call("f", [1])
    with pytest.raises(SessionFailure, match="10 s for all calls together were over"):
        bounded.call("f", [1])
    assert session.limits == [10.0, 6.0, 2.0]


def test_time_in_which_we_stood_still_is_not_the_programs(clock):
    """After Ctrl-Z in the middle of its calls each program that was being scored was told as late."""
    session = Calls(clock, took=4.0, away=3600.0)
    bounded = BoundedCalls(session, 10.0)
    bounded.call("f", [1])
    bounded.call("f", [1])
    assert session.limits == [10.0, 6.0]
