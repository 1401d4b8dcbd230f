"""The spread of scores that are not the same twice: against the formula, and against a random evaluator."""

from __future__ import annotations

import random

import pytest

from reports.spread import spread_of


def final(*rows):
    return {"looks": [{"node_id": name, "first": first, "again": again} for name, first, again in rows]}


def test_the_deviation_is_pooled_over_the_programs_without_the_scores_that_chose_them():
    found = spread_of(final(("a", 9.0, [1.0, 3.0]), ("b", 9.0, [5.0, 5.0])), {})
    assert found.degrees == 2 and found.deviation == pytest.approx(1.0)
    assert found.score("a", 9.0) == (2.0, 2) and found.score("c", 4.0) == (4.0, 1) == found.score(None, 4.0)
    assert found.margin(2, 1) == pytest.approx(4.303 * 1.5**0.5)


def test_one_further_score_is_held_against_the_first():
    found = spread_of(final(("a", 1.0, [3.0])), {})
    assert found.degrees == 1 and found.deviation == pytest.approx(2**0.5)


def test_the_scores_of_the_search_are_pooled_too_and_a_mean_is_known_as_one():
    """Five pairs of the end said 2.1 where eleven triples of the same run said 4.7."""
    repeated = {"a": (8.0, 9.0, 10.0), "z": (1.0, 5.0)}
    found = spread_of(final(("a", 9.0, [1.0, 3.0])), repeated)
    assert found.degrees == 4 and found.deviation == pytest.approx((12.0 / 4) ** 0.5)
    assert found.looks["a"].times == 3 and found.score("z", 3.0) == (3.0, 2)
    alone = spread_of(final(("a", 9.0, [3.0])), repeated)
    assert alone.degrees == 3, "the mean of three is no score to be held against one"


@pytest.mark.parametrize("looks", [None, [], "text", [{"node_id": "a"}], [{"node_id": "a", "first": 1.0, "again": []}]])
def test_without_looks_nothing_is_known(looks):
    assert spread_of({"looks": looks}, {}) is None


def test_the_luckiest_of_five_that_are_alike_is_seldom_told_better():
    """The scores of the end choose the winner, too: in one run of eight the luckiest was told better."""
    rng, better, runs = random.Random(3), 0, 400
    for _ in range(runs):
        tops = sorted((rng.gauss(0, 1) for _ in range(50)), reverse=True)[:5]
        rows = [(str(n), top, [rng.gauss(0, 1), rng.gauss(0, 1)]) for n, top in enumerate(tops)]
        found = spread_of(final(*rows, ("own", rng.gauss(0, 1), [rng.gauss(0, 1), rng.gauss(0, 1)])), {})
        name = max(rows, key=lambda row: row[1] + sum(row[2]))[0]
        better += found.score(name, 0.0)[0] - found.score("own", 0.0)[0] > found.margin(2, 2, among=5)
    assert better / runs < 0.045, "2.5 % with a standard error of 0.8 %"


def test_of_random_scores_one_in_twenty_seems_told_apart():
    rng, wrong, runs = random.Random(3), 0, 400
    for _ in range(runs):
        rows = [(str(n), rng.random(), [rng.random(), rng.random()]) for n in range(5)]
        found = spread_of(final(*rows), {})
        mean, times = found.score("0", 0.0)
        wrong += abs(mean - rng.random()) > found.margin(times, 1)
    assert wrong / runs < 0.09  # 0.05 with a standard error of 0.011


def test_where_nobody_could_look_at_the_end_the_search_says_how_far_scores_lie_apart():
    """The verdict called the luckier one better, though scores of one program differed by more in the search."""
    found = spread_of({"looks": None}, {"a": (1.0, 2.0, 3.0), "b": (7.0, 8.0, 9.0)})
    assert found is not None and (found.deviation, found.degrees) == (1.0, 4)
    assert found.score("a", 2.0) == (2.0, 3) and found.score("c", 5.0) == (5.0, 1)
    assert spread_of({}, {"a": (1.0, 2.0)}) is None and spread_of({"looks": None}, {}) is None
