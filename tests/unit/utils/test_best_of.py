from __future__ import annotations

import random
from statistics import fmean

import pytest

from utils.best_of import expected_best


def test_many_draws_tell_the_best_of_as_many():
    dice = random.Random(1)
    draws = [dice.gauss(10, 2) for _ in range(4000)]
    truth = fmean(max(dice.gauss(10, 2) for _ in range(50)) for _ in range(2000))
    found, low, high = expected_best(draws, 50)
    assert found == pytest.approx(truth, abs=0.15) and low < truth < high and high - low < 0.4


@pytest.mark.long
def test_the_interval_of_few_draws_holds_the_truth_as_often_as_it_says():
    dice = random.Random(2)
    truth = expected_best([dice.gauss(0, 1) for _ in range(100_000)], 30)[0]
    held = 0
    for trial in range(200):
        _, low, high = expected_best([dice.gauss(0, 1) for _ in range(5)], 30, seed=trial)
        held += low <= truth <= high
    assert 0.90 <= held / 200 <= 0.99


def test_one_draw_is_the_mean():
    assert expected_best([1.0, 3.0], 1)[0] == 2.0
