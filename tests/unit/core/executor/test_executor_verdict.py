"""What a program raised, in words that name the limit that it came to."""

from __future__ import annotations

import errno
import resource

import pytest

from core.contracts import Limits
from core.executor.verdict import Raised, judge_exception
from core.state.failure import FailureKind


@pytest.mark.parametrize(
    ("most", "told"), [(20, "the limit is 64 and, of all that this user runs, 20 (ulimit -u)"), (-1, "the limit is 64")]
)
def test_a_session_with_less_room_than_the_sandbox_is_named(monkeypatch, most, told):
    """A search in a session of 20 processes was told of a limit of 128 that it was far from."""
    monkeypatch.setattr(resource, "getrlimit", lambda what: (most, most))
    raised = Raised("BlockingIOError", "Resource temporarily unavailable", (), errno.EAGAIN, (), syntax=False)
    kind, said = judge_exception(raised, Limits(seconds=1, memory_mb=64, processes=64))
    assert kind is FailureKind.PROCESSES and said.endswith(told)
