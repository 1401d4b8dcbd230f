"""Ctrl-C once ends a search in good order, twice at once."""

from __future__ import annotations

import signal
import threading

import pytest

from runs.interrupts import Interrupts


def test_the_first_signal_asks_and_the_second_stops():
    told = []
    interrupts = Interrupts(lambda over: told.append(("finishing", over)))
    before = signal.getsignal(signal.SIGINT)
    with interrupts.handled():
        signal.raise_signal(signal.SIGTERM)
        assert interrupts.finish.is_set() and not interrupts.now.is_set() and told == [("finishing", False)]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert interrupts.now.is_set() and told == [("finishing", False)]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_that_whoever_started_us_ignores_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    interrupts = Interrupts()
    try:
        with interrupts.handled():
            signal.raise_signal(signal.SIGINT)
            assert not interrupts.finish.is_set()
            signal.raise_signal(signal.SIGTERM)
            assert interrupts.finish.is_set()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_handle_no_signals():
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work():
        with Interrupts().handled():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
