"""Ctrl-C once ends a search in good order, twice at once."""

from __future__ import annotations

import os
import signal
import subprocess
import threading

import pytest

from runs.interrupts import ECHO_SECONDS, Interrupts, interrupt_on_terminate, paused_together


def test_the_first_signal_asks_and_the_second_stops():
    told = []
    interrupts = Interrupts(lambda over: told.append(("finishing", over)))
    before = signal.getsignal(signal.SIGINT)
    with interrupts.handled():
        signal.raise_signal(signal.SIGINT)
        assert interrupts.finish.is_set() and not interrupts.now.is_set() and told == [("finishing", False)]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert interrupts.now.is_set() and told == [("finishing", False)]
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    "numbers",
    [(signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGTERM), (signal.SIGTERM, signal.SIGINT)],
)
def test_signals_at_once_are_one_wish_and_later_ones_the_second(numbers):
    """timeout(1) sends two at once; keys reach a run of a sweep, which tells it too, in either order."""
    now, told = [100.0], []
    interrupts = Interrupts(lambda over: told.append("finish"), lambda: told.append("now"), clock=lambda: now[0])
    with interrupts.handled():
        for number in numbers:
            signal.raise_signal(number)
        assert told == ["finish"] and not interrupts.now.is_set()
        now[0] += ECHO_SECONDS + 0.01
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(numbers[0])
        signal.raise_signal(numbers[1])  # would cut off what is being closed
        assert told == ["finish", "now"] and interrupts.now.is_set()


@pytest.mark.parametrize("numbers", [(signal.SIGINT, signal.SIGTERM), (signal.SIGTERM,)])
def test_signals_that_another_thread_took_are_heard_by_a_main_thread_that_waits(numbers):
    """As the system does with two in the same instant: the main thread slept on, and neither was heard."""
    interrupts, over = Interrupts(), threading.Event()
    nudged, wakeup = signal.getsignal(signal.SIGURG), signal.set_wakeup_fd(-1)

    def take() -> None:
        for number in numbers:
            signal.pthread_kill(threading.get_ident(), number)
        if interrupts.finish.wait(20):
            over.set()

    with interrupts.handled():
        taker = threading.Timer(0.2, take)
        taker.start()
        heard = over.wait(30)
        taker.join()
    assert heard and interrupts.finish.is_set() and not interrupts.now.is_set()
    assert signal.getsignal(signal.SIGURG) is nudged and signal.set_wakeup_fd(wakeup) == -1
    assert "signals" not in [thread.name for thread in threading.enumerate()]


def test_sigterm_interrupts_once_and_stays_ignored_where_it_was():
    before = signal.getsignal(signal.SIGTERM)
    try:
        interrupt_on_terminate()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)  # the echo of the first, which is not to cut off what is being closed
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        interrupt_on_terminate()
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    ("number", "is_heard"), [(signal.SIGINT, False), (signal.SIGHUP, False), (signal.SIGTERM, True)]
)
def test_a_signal_that_whoever_started_us_ignores_stays_ignored_but_sigterm(number, is_heard):
    """nohup means it. SIGTERM is what a service manager has: a search that did not hear it would be killed with all
    that is under way."""
    before = signal.signal(number, signal.SIG_IGN)
    interrupts = Interrupts()
    try:
        with interrupts.handled():
            signal.raise_signal(number)
            assert interrupts.finish.is_set() == is_heard
            if not is_heard:
                signal.raise_signal(signal.SIGTERM)
                assert interrupts.finish.is_set()
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


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


def test_a_group_that_ends_while_all_are_stopped_keeps_no_other_from_going_on(monkeypatch):
    """Ctrl-Z on a sweep of which somebody killed a run meanwhile: the others stayed stopped for ever."""
    gone = subprocess.Popen(["true"], process_group=0)
    gone.wait()
    goes_on = subprocess.Popen(["sleep", "60"], process_group=0)
    stops = []

    def state_of(pid):
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]

    def stop_ourselves(pid, number):
        assert (pid, number) == (os.getpid(), signal.SIGSTOP)
        stops.append(os.waitid(os.P_PID, goes_on.pid, os.WSTOPPED | os.WNOWAIT).si_status)

    monkeypatch.setattr(os, "kill", stop_ourselves)
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    try:
        with paused_together(lambda: [gone.pid, goes_on.pid]):
            signal.raise_signal(signal.SIGTSTP)
        assert stops == [signal.SIGSTOP] and state_of(goes_on.pid) != "T"
    finally:
        signal.signal(signal.SIGTSTP, before)
        os.killpg(goes_on.pid, signal.SIGKILL)
        goes_on.wait()
