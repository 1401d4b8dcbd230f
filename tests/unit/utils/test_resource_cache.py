from __future__ import annotations

import threading

import pytest

from utils.resource_cache import ResourceCache


class Thing:
    def __init__(self) -> None:
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


def test_a_thing_is_made_once_however_many_ask_at_once():
    kept, made = ResourceCache(), []
    gate = threading.Event()

    def make() -> Thing:
        gate.wait(2)
        made.append(Thing())
        return made[-1]

    found: list[Thing] = []
    threads = [threading.Thread(target=lambda: found.append(kept.get("a", make))) for _ in range(8)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join()
    assert len(made) == 1 and all(thing is made[0] for thing in found)


def test_all_things_are_closed_with_their_owner_once():
    kept = ResourceCache()
    things = [kept.get(name, Thing) for name in "abc"]
    kept.drop("a", things[0])
    kept.drop("a", things[0])
    kept.drop("b", Thing())
    assert [thing.closed for thing in things] == [1, 0, 0] and kept.get("a", Thing) is not things[0]
    kept.close()
    kept.close()
    assert [thing.closed for thing in things] == [1, 1, 1]
    with pytest.raises(RuntimeError, match="closed"):
        kept.get("d", Thing)


def test_what_cannot_be_made_is_tried_again():
    kept = ResourceCache()
    with pytest.raises(ZeroDivisionError):
        kept.get("a", lambda: 1 / 0)
    assert kept.get("a", Thing).closed == 0
