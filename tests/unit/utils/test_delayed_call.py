"""Work that is done a little later, once for all that asked."""

from __future__ import annotations

import threading
import time

from utils.delayed_call import DelayedCall


def test_it_is_done_once_for_all_that_asked():
    done = threading.Semaphore(0)
    call = DelayedCall(done.release, 0.05)
    for _ in range(100):
        call.ask()
    assert done.acquire(timeout=60) and not done.acquire(timeout=0.2)
    call.ask()
    assert done.acquire(timeout=60)
    call.close()


def test_whoever_closes_it_does_not_wait_for_ever():
    """A run hung at its end: the word of `close` was taken for that of somebody who had asked before."""

    class Slow(threading.Event):
        def clear(self) -> None:
            closed.wait(60)
            super().clear()

    class Told(threading.Event):
        def set(self) -> None:
            super().set()
            closed.set()

    closed = threading.Event()
    call = DelayedCall(lambda: None, 0.0)
    call._asked, call._over = Slow(), Told()
    call.ask()
    closing = threading.Thread(target=call.close, daemon=True)
    threading.Timer(0.1, closing.start).start()
    assert closed.wait(60)
    closing.join(60)
    assert not closing.is_alive()


def test_many_who_ask_first_at_once_start_one_thread(monkeypatch):
    """Of two threads `close` waited for one, and the other one could take its word."""

    class Slow(threading.Thread):
        def __init__(self, *args, **named) -> None:
            super().__init__(*args, **named)
            time.sleep(0.2)  # whoever else asks is here by now

    before = set(threading.enumerate())
    call = DelayedCall(lambda: None, 0.01)
    askers = [threading.Thread(target=call.ask) for _ in range(4)]
    monkeypatch.setattr(threading, "Thread", Slow)
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join(60)
    running = set(threading.enumerate()) - before
    call.close()
    assert len(running) == 1
