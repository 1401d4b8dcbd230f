"""Threads of a block end with it, unless the user wants to stop now."""

from __future__ import annotations

import threading
import time

import pytest

from utils.thread_pool import Pool, threads


def test_what_was_begun_is_waited_for_and_what_was_not_is_not_begun():
    begun, done, release = threading.Event(), [], threading.Event()

    def work(item: int) -> None:
        begun.set()
        release.wait(60)
        done.append(item)

    with pytest.raises(OSError), threads(1, "test") as pool:
        for item in range(3):
            pool.submit(work, item)
        assert begun.wait(60)
        threading.Timer(0.1, release.set).start()
        raise OSError("a fault of ours")
    assert done == [0]


@pytest.mark.parametrize("by_generator", [False, True])
def test_who_wants_to_stop_waits_for_nobody(by_generator):
    release = threading.Event()

    def results():
        with threads(1, "test") as pool:
            pool.submit(release.wait, 60)
            yield 1
            raise KeyboardInterrupt

    began, found = time.monotonic(), results()
    next(found)
    if by_generator:
        found.close()
    else:
        with pytest.raises(KeyboardInterrupt):
            next(found)
    assert time.monotonic() - began < 40
    release.set()


def test_where_the_machine_gives_no_further_thread_those_that_are_there_do_the_work(monkeypatch):
    start, room = threading.Thread.start, [2]

    def started(thread: threading.Thread) -> None:
        if not room[0]:
            raise RuntimeError("can't start new thread")
        room[0] -= 1
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", started)
    with Pool(8) as pool:
        assert list(pool.map(lambda number: time.sleep(0.01) or 2 * number, range(20))) == list(range(0, 40, 2))
    with Pool(8) as pool, pytest.raises(RuntimeError, match="can't start new thread"):
        pool.submit(print)
