"""What is made once for all threads of an object."""

from __future__ import annotations

import threading

from utils.shared_property import shared_property
from utils.thread_pool import threads


class Owner:
    def __init__(self) -> None:
        self.made = 0
        self.all_there = threading.Barrier(4)

    @shared_property
    def thing(self) -> object:
        """Slow enough for all to ask while the first one makes it."""
        self.made += 1
        threading.Event().wait(0.05)
        return object()


def test_threads_that_ask_at_once_get_the_same_one():
    owner = Owner()

    def ask(_: int) -> object:
        owner.all_there.wait()
        return owner.thing

    with threads(4, "ask") as pool:
        found = list(pool.map(ask, range(4)))
    assert owner.made == 1 and set(map(id, found)) == {id(owner.thing)}


def test_each_object_has_its_own():
    one, other = Owner(), Owner()
    assert one.thing is one.thing
    assert one.thing is not other.thing
