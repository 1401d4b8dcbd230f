"""A clock that does not go while its process stands still."""

from __future__ import annotations

import threading

from utils.awake_clock import BEAT, AwakeClock


class Now:
    def __init__(self) -> None:
        self.seconds = self.worked = 100.0

    def clock(self) -> AwakeClock:
        return AwakeClock(lambda: self.seconds, lambda: self.worked)


def test_time_in_which_no_thread_looked_and_nothing_was_worked_is_none():
    now = Now()
    clock = now.clock()
    with clock.watched():
        now.seconds += BEAT
        assert clock() == 100 + BEAT
        now.seconds += 60 + BEAT
        assert clock() == 100 + 2 * BEAT, "it stood still for a minute"
        now.seconds += 1
        assert clock() == 101 + 2 * BEAT, "a machine that is busy lets a thread wait as well"
        now.seconds, now.worked = now.seconds + 60, now.worked + 40
        assert clock() == 161 + 2 * BEAT, "we worked, and no other thread had its turn"
        before = clock()
    now.seconds += 60
    assert clock() == before + 60, "where nobody looks, nothing is known of a standstill"


def test_it_never_goes_back_whichever_thread_is_the_first_to_look_again():
    now = Now()
    clock = now.clock()
    with clock.watched():
        told = []
        for step in (0.1, 5, 0, 0.3, 100, 0.2, 2.4):
            now.seconds += step
            told.append(clock())
        assert told == sorted(told) and told[-1] < 100 + 0.1 + 0.3 + 0.2 + 2.4 + 3 * BEAT + 2.6


def test_the_end_of_the_watch_waits_for_a_look_under_way(monkeypatch):
    """Its thread then looked for what was gone, and its traceback stood on the terminal."""
    looking, left, raised = threading.Event(), threading.Event(), []
    monkeypatch.setattr(threading, "excepthook", raised.append)

    class Slow(float):
        def __sub__(self, other):
            if threading.current_thread().name == "awake":
                looking.set()
                left.wait(0.3)
            return float(self) - other

    with AwakeClock(lambda: Slow(1.0), lambda: 1.0).watched():
        (thread,) = [one for one in threading.enumerate() if one.name == "awake"]
        assert looking.wait(60)
    left.set()
    thread.join(60)
    assert raised == []
