"""The bandit's window: a choice follows from what is in it, and from nothing that has left it."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from utils.bandit import Bandit

NAMES = ["phases", "islands", "tune"]
WINDOW = 6
told = st.tuples(st.sampled_from(NAMES), st.floats(0, 10), st.one_of(st.none(), st.floats(0, 0.1)))


def choices(bandit: Bandit, seed: int) -> list[int]:
    rng = random.Random(seed)
    return [bandit.choose(NAMES, rng) for _ in range(5)]


@given(st.lists(told, max_size=20), st.integers(0, 2**32))
def test_a_choice_is_that_of_one_who_was_told_the_window_alone(rows, seed):
    old, fresh = Bandit(0.35, WINDOW), Bandit(0.35, WINDOW)
    for row in rows:
        old.tell(*row)
    for row in rows[-WINDOW:]:
        fresh.tell(*row)
    assert choices(old, seed) == choices(fresh, seed)


def test_gains_that_left_the_window_do_not_make_an_arm_the_best():
    """0.1 + 0.2 − 0.1 − 0.2 is 2.8e-17 in floats, and where nothing gains that was the whole of the best density."""
    bandit, rng = Bandit(0.35, 40), random.Random(0)
    bandit.tell("islands", 0.1, None)
    bandit.tell("islands", 0.2, None)
    for step in range(100):
        bandit.tell(NAMES[step % 3] if step < 40 else NAMES[bandit.choose(NAMES, rng)], 0.0, None)
    counts = [sum(name == arm for name, _, _ in bandit._told) for arm in NAMES]
    assert max(counts) - min(counts) <= 2
