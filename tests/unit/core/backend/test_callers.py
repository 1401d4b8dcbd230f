"""Threads that make the calls of models, one after the other."""

from __future__ import annotations

import threading
import time

import pytest

from core.backend.deadline import Callers, Deadline, call_within
from utils.errors import LostReplyError


@pytest.fixture
def callers():
    found = Callers()
    yield found
    found.close()


def made(callers: Callers) -> int:
    return call_within(Deadline(10.0), threading.get_ident, threading.Event(), "openai/m", callers)


def test_a_thread_that_is_through_makes_the_next_call(callers):
    assert len({made(callers) for _ in range(5)}) == 1


def test_a_call_that_was_given_up_keeps_its_thread_until_it_ends(callers):
    first, release = made(callers), threading.Event()
    with pytest.raises(LostReplyError):
        call_within(Deadline(0.1), lambda: release.wait(30), threading.Event(), "openai/m", callers)
    assert made(callers) != first
    release.set()


def test_an_error_is_that_of_its_call_alone(callers):
    def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        call_within(Deadline(10.0), fails, threading.Event(), "openai/m", callers)
    assert made(callers)


def test_calls_at_the_same_time_have_threads_of_their_own(callers):
    meet = threading.Barrier(2, timeout=60)
    ahead = callers.begin(meet.wait)
    call_within(Deadline(20.0), meet.wait, threading.Event(), "openai/m", callers)
    assert ahead.done.wait(60)


def test_once_closed_threads_end_with_their_calls():
    callers, release = Callers(), threading.Event()
    running = callers.begin(lambda: release.wait(30) and threading.current_thread())
    callers.close()
    release.set()
    assert running.done.wait(60) and running.value is not None
    running.value.join(60)
    assert not running.value.is_alive()


def test_an_error_that_comes_with_the_deadline_is_the_deadline(callers: Callers) -> None:
    """An SDK has a limit of its own that ends with ours: its words name no key to set."""
    deadline = Deadline(0.3, " (llm.code.timeout)")

    def late() -> None:
        while deadline.left > 0:
            time.sleep(0.01)
        raise TimeoutError("Request timed out.")

    with pytest.raises(LostReplyError, match=r"no complete reply within 0\.3 s \(llm\.code\.timeout\)"):
        call_within(deadline, late, threading.Event(), "openai/m", callers)
