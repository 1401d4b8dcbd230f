import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.metric import Metric

numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(numbers, numbers, st.booleans())
def test_better_is_by_direction(first, second, lower):
    better = Metric(first, lower) > Metric(second, lower)
    assert better == (first < second if lower else first > second)


@pytest.mark.parametrize("nothing", [None, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("lower", [True, False])
def test_no_score_is_worse_than_any_score_and_equal_to_no_score(nothing, lower):
    assert Metric(-1e300, lower) > Metric.of(nothing, lower)
    assert not Metric.of(nothing, lower) > Metric(1e300, lower)
    assert Metric.of(nothing, lower) == Metric(None, lower)


def test_integers_are_numbers_and_booleans_are_not():
    assert Metric.of(1, True) == Metric(1.0, True) and Metric.of(True).is_worst and Metric.of("0.3").is_worst


def test_scores_of_different_direction_do_not_compare():
    with pytest.raises(ValueError, match="direction"):
        _ = Metric(1.0, True) > Metric(2.0, False)


def test_sorting_puts_the_best_last():
    ranked = sorted([Metric(3.0, True), Metric(None, True), Metric(1.0, True)])
    assert [metric.value for metric in ranked] == [None, 3.0, 1.0]
