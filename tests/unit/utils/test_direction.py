from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.direction import Direction, as_score, finite

numbers = st.floats(allow_nan=False, allow_infinity=False)
directions = st.builds(Direction, st.booleans())


def test_words():
    assert (Direction(True).word, Direction(True).optimum) == ("lower", "min")
    assert (Direction().word, Direction().optimum) == ("higher", "max")


@given(directions, numbers, numbers)
def test_better_fitness_and_gain_agree(direction, first, second):
    better = direction.better(first, second)
    assert better == (first < second if direction.lower_is_better else first > second)
    assert better == (direction.fitness(first) > direction.fitness(second))
    assert direction.turned(direction.fitness(first)) == first
    if better:
        assert direction.gain(first, second) >= 0 >= direction.gain(second, first)


@pytest.mark.parametrize("direction", [Direction(True), Direction()])
@pytest.mark.parametrize("zero", [0, 0.0, -0.0])
def test_no_score_and_no_fitness_is_a_zero_below_zero(direction, zero):
    for number in (finite(zero), as_score(zero), direction.fitness(zero), direction.turned(zero)):
        assert number == 0 and math.copysign(1, number) == 1


@given(directions, numbers)
def test_what_is_no_score_is_worse_than_any(direction, score):
    for nothing in (None, math.nan, math.inf, -math.inf, True, "0.3", 10**400):
        assert direction.better(score, nothing) and not direction.better(nothing, score)
        assert not direction.better(nothing, None) and direction.fitness(nothing) is None


@given(directions, st.lists(st.tuples(st.integers(-3, 3), st.integers()), max_size=12))
def test_best_is_the_first_of_the_ranked_and_equals_stay_in_order(direction, items):
    ranked = direction.ranked(items, lambda item: item[0])
    assert direction.best(items, lambda item: item[0]) == (ranked[0] if ranked else None)
    assert all(not direction.better(after[0], before[0]) for before, after in itertools.pairwise(ranked))
    for score in {item[0] for item in items}:
        assert [item for item in ranked if item[0] == score] == [item for item in items if item[0] == score]


@pytest.mark.parametrize(
    ("given", "number"), [(1, 1.0), (-2.5, -2.5), (True, None), ("0.3", None), (b"1", None), ([], None)]
)
def test_finite_numbers(given, number):
    assert finite(given) == number
