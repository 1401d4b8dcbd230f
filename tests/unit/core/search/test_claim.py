"""A claim needs the final part's own evidence; by chance it is made at most as often as its level says."""

from __future__ import annotations

import random
from statistics import fmean

import pytest

from core.search.claim import hardest, paired_claim
from utils.direction import Direction
from utils.stats import student_975


def claimed(name, winner, reference, lower):
    """Where a score is the mean of its cases."""
    gain = Direction(lower).gain(fmean(winner), fmean(reference))
    return paired_claim(name, gain, winner, reference, lower)


def test_the_interval_stands_round_the_difference_of_the_scores():
    """The mean over blocks is another number than the score of all rows; a user subtracts the scores that are shown."""
    found = paired_claim("base", 0.25, [1.0, 1.1, 0.9, 1.0, 1.05], [2.0, 2.2, 1.8, 2.1, 2.0], True)
    low, high = found.interval
    assert found.gain == 0.25 and (low + high) / 2 == pytest.approx(0.25) and 0 < high - low < 1


@pytest.mark.parametrize(
    ("degrees", "value"), [(1, 12.706), (7, 2.365), (30, 2.042), (40, 2.021), (99, 1.984), (999, 1.962)]
)
def test_quantiles_are_the_tables(degrees, value):
    assert student_975(degrees) == pytest.approx(value, abs=1e-3)


def test_a_clear_gain_holds_in_either_direction():
    lower = claimed("base", [1.0, 1.1, 0.9, 1.0, 1.05], [2.0, 2.2, 1.8, 2.1, 2.0], True)
    assert lower is not None and lower.holds and lower.gain == pytest.approx(1.01)
    higher = claimed("base", [2.0, 2.2, 1.8, 2.1, 2.0], [1.0, 1.1, 0.9, 1.0, 1.05], False)
    assert higher is not None and higher.holds
    worse = claimed("base", [2.0, 2.2, 1.8, 2.1, 2.0], [1.0, 1.1, 0.9, 1.0, 1.05], True)
    assert worse is not None and not worse.holds and worse.interval[1] < 0


def test_too_few_or_unlike_cases_say_nothing():
    assert claimed("base", [1.0] * 4, [2.0] * 4, True) is None
    assert claimed("base", [1.0] * 6, [2.0] * 5, True) is None
    assert claimed("base", [1.0] * 5, [float("nan")] * 5, True) is None


def test_equal_programs_are_told_apart_no_more_often_than_chance_allows():
    rng = random.Random(5)
    claims = 0
    for _ in range(4000):
        winner = [rng.gauss(0, 1) for _ in range(8)]
        reference = [rng.gauss(0, 1) for _ in range(8)]
        found = claimed("base", winner, reference, True)
        claims += found is not None and found.holds
    assert 60 <= claims <= 145  # 2.5 % of 4,000 is 100; within about 4.5 sigma


def test_a_claim_must_hold_against_every_baseline():
    """The winner is as good as the constant; an overfitted baseline, best on validation by luck, proves nothing."""
    constant, overfitted = [1.0, 1.1, 0.9, 1.0, 1.05], [1.2, 1.31, 1.1, 1.21, 1.24]
    winner = [1.0, 1.09, 0.91, 1.0, 1.04]
    claims = [claimed(name, winner, cases, True) for name, cases in (("o", overfitted), ("c", constant))]
    assert claims[0].holds and not claims[1].holds
    assert hardest(claims).baseline == "c"
    assert hardest([]) is None
