"""A limit on steps in a row is reached while programs are under way, and these end the row: a resume ends there too."""

from __future__ import annotations

import threading

import pytest
from support.loop import Crash, DyingStore, open_loop, told

from core.loop.plan import Control
from core.search.stopping import stopping

REPLIES = {
    "nothing_left": [9, 8, "left", "left", 7, "left", 6, 5, 4, 3],
    "repeats": [9, 8, 8, 9, 7, 8, 6, 5, 4, 3],
    "stagnation": [9, 5, 8, 7, 4.5, 6, 4, 3, 2.5, 2.4],
}
"""Limit → what the writers reply, in the order of the proposals: a number to try, or that nothing is left to gain. The
fourth reaches the limit, and those that are under way by then end the row."""
LIMITS = {"nothing_left": 2, "repeats": 2, "stagnation": 2}
WRITES = ("open_round", "commit", "put_fact")


class Telling:
    """Replies as it is told to, whoever asks when."""

    def __init__(self, replies):
        self._replies = replies

    def write(self, context, rng):
        reply = self._replies[context["task"]["round"]]
        return "NOTHING LEFT: two is two" if reply == "left" else f"I try it.\n```python\nx = {reply}\n```\n"


class Watched:
    """A store at whose n-th write something happens."""

    def __init__(self, store, at, happens):
        self._store, self._left, self._happens = store, at, happens

    def __getattr__(self, name):
        found = getattr(self._store, name)
        return found if name not in WRITES else lambda *args, **options: self._count(found, args, options)

    def _count(self, write, args, options):
        self._left -= 1
        if self._left == 0:
            self._happens()
        return write(*args, **options)


def opened(folder, limit, *, limits=None, replies=None, **more):
    replies = replies or REPLIES[limit]
    stop = stopping(max_steps=len(replies), **({limit: LIMITS[limit]} | (limits or {}))).reason
    usual = {"batch": 2, "writers": 2, "schedule": "pipeline"}
    return open_loop(folder, steps=len(replies), writer=Telling(replies), stop=stop, **(usual | more))


@pytest.fixture(params=LIMITS)
def limit(request):
    return request.param


@pytest.fixture
def whole(tmp_path, limit):
    """(why the run that nobody stopped ended, its nodes)"""
    loop = opened(tmp_path / "whole", limit)
    reason = loop.run()
    assert reason.startswith(f"budget.{limit}: "), reason
    assert 4 < len(loop.journal) < len(REPLIES[limit])
    by_now = stopping(**{limit: LIMITS[limit]}).reason(loop.orchestrator.progress())
    assert by_now is None, "else this shows nothing: the row has to be over"
    return reason, told(loop.journal)


def is_killed(folder, limit, at, when):
    """False where the run has ended by its limit before its process came to its `at`-th write."""
    try:
        opened(folder, limit, wrap=lambda store: DyingStore(store, at, when, WRITES)).run()
    except Crash:
        return True
    return False


def is_interrupted(folder, limit, at):
    pressed = threading.Event()
    control = Control(interrupted=pressed)
    loop = opened(folder, limit, wrap=lambda store: Watched(store, at, pressed.set), control=control)
    return loop.run() == "interrupted"


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_at_any_write_a_resume_ends_as_the_run_that_was_not_stopped(tmp_path, limit, whole, when):
    at = 1
    while is_killed(tmp_path / f"{at}", limit, at, when):
        resumed = opened(tmp_path / f"{at}", limit)
        assert (resumed.run(), told(resumed.journal)) == whole, at
        at += 1
    assert at > 12


def test_interrupted_at_any_write_a_resume_ends_as_the_run_that_was_not_stopped(tmp_path, limit, whole):
    at = 1
    while is_interrupted(tmp_path / f"{at}", limit, at):
        resumed = opened(tmp_path / f"{at}", limit)
        assert (resumed.run(), told(resumed.journal)) == whole, at
        at += 1
    assert at > 10


@pytest.fixture
def cut_off(tmp_path, limit):
    """A run that was killed when the programs under way had ended the row, before the last of them was committed."""
    folder = tmp_path / "cut-off"
    with pytest.raises(Crash):
        opened(folder, limit, wrap=lambda store: DyingStore(store, 6, "before", writes=("commit",))).run()
    return folder


def test_a_resume_with_a_higher_limit_goes_on(limit, cut_off):
    assert opened(cut_off, limit, limits={limit: LIMITS[limit] + 1}).run() == "max_steps: 10 of 10 steps"


def test_a_resume_that_ended_is_looked_at_by_its_limits_of_now(limit, cut_off, whole):
    opened(cut_off, limit).run()
    again = opened(cut_off, limit)
    again.orchestrator.restore()
    assert again.orchestrator.limit() == whole[0]
    again.close()
    more = opened(cut_off, limit, limits={limit: LIMITS[limit] + 1})
    more.orchestrator.restore()
    assert more.orchestrator.limit() == ""
    more.close()


def test_a_step_by_hand_behind_it_is_something_new(limit, cut_off):
    opened(cut_off, limit).run()
    loop = opened(cut_off, limit)
    loop.orchestrator.restore()
    loop.orchestrator.play(loop.orchestrator.open_round(loop.orchestrator.ask(1), by_hand=True))
    assert loop.orchestrator.limit() == ""
    loop.close()
    after = opened(cut_off, limit)
    assert after.run() == "max_steps: 10 of 10 steps"


def test_a_limit_that_is_reached_again_is_kept_again(tmp_path):
    """The one of before was raised: it must not hide that the new one is reached as well."""
    limit, limits = "nothing_left", {"nothing_left": 3}
    replies = [9, 8, "left", "left", 7, "left", "left", "left", 6, 5, 4, 3, 2.5]

    def again(folder, died_at=None, **more):
        wrap = (lambda store: DyingStore(store, died_at, "before", writes=("commit",))) if died_at else (lambda s: s)
        loop = opened(folder, limit, wrap=wrap, replies=replies, **more)
        if died_at is None:
            return loop.run(), told(loop.journal)
        with pytest.raises(Crash):
            loop.run()
        return None

    reference = tmp_path / "reference"
    again(reference, 6)
    expected = again(reference, limits=limits)
    assert expected[0].startswith("budget.nothing_left") and len(expected[1]) < len(replies)
    assert expected[1][-1][4] is not None, "the last one under way had a program: it ended the row"
    twice = tmp_path / "twice"
    again(twice, 6)
    again(twice, 5, limits=limits)
    assert again(twice, limits=limits) == expected
