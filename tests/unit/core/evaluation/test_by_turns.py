"""Two programs measured by turns: what slows the machine slows both."""

from __future__ import annotations

import random

import pytest

from core.evaluation.timing import ByTurns, repeat
from core.state.change import change_of
from core.state.node import Node
from utils.direction import Direction


def by_turns(own, other, load):
    """Both measured under a load that changes from run to run as it likes."""
    return ByTurns(lambda: own * next(load), lambda: other * next(load))


def wandering(seed=0):
    """A machine on which others begin and end something now and then: it is up to four times slower for a while."""
    rng, load = random.Random(seed), 1.0
    while True:
        load = min(4.0, max(1.0, load * rng.uniform(0.93, 1.08)))
        yield load


@pytest.mark.parametrize("seed", range(20))
def test_the_ratio_holds_whatever_the_load_does(seed):
    turns = by_turns(0.9, 1.0, wandering(seed))
    timing = repeat(turns.once, at_most=30)
    ratio, low, high = turns.ratio()
    assert low <= ratio <= high and abs(ratio - 0.9) < 0.06
    assert len(timing.samples) >= 9


def test_each_goes_first_every_other_time():
    said: list[str] = []
    turns = ByTurns(lambda: said.append("own") or 1.0, lambda: said.append("other") or 1.0)
    for _ in range(3):
        turns.once()
    assert said == ["own", "other", "other", "own", "own", "other"]


def test_a_rival_that_fails_is_asked_no_more_and_says_nothing():
    asked: list[int] = []
    turns = ByTurns(lambda: 1.0, lambda: asked.append(1) or (None if len(asked) == 3 else 1.0))
    repeat(turns.once)
    assert turns.ratio() is None and len(asked) == 3
    alone = ByTurns(lambda: 1.0, None)
    repeat(alone.once)
    assert alone.ratio() is None


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        ((0.92, 0.9, 0.94), "8 % better (6 to 10 %), measured by turns"),
        ((1.5, 1.4, 1.7), "50 % worse (40 to 70 %), measured by turns"),
        ((0.99, 0.95, 1.02), "no clear change: -5 to +2 %, measured by turns"),
    ],
)
def test_what_was_measured_by_turns_says_which_is_better(beside, told):
    """The scores themselves are of two hours, and say the contrary."""
    parent = Node(id="p", code="a", metric_value=1.0, interval=(0.99, 1.01))
    child = Node(id="c", code="b", parent_id="p", metric_value=1.3, beside_parent=beside, lower_is_better=True)
    assert change_of(child, parent, Direction(lower_is_better=True)) == told
    other = parent.model_copy(update={"id": "q"})
    assert "measured by turns" not in change_of(child, other, Direction(lower_is_better=True))
