from __future__ import annotations

import pytest

from core.search.stopping import Progress, stopping


@pytest.mark.parametrize(
    ("limit", "before", "reached", "word"),
    [
        ({"max_steps": 3}, {"steps": 2}, {"steps": 3}, "max_steps"),
        ({"max_steps": 0}, None, {}, "max_steps"),
        ({"max_generations": 2}, {"generations": 1}, {"generations": 2}, "max_generations"),
        ({"seconds": 10.0}, {"seconds": 9.9}, {"seconds": 10.0}, "budget.seconds"),
        ({"tokens": 1000}, {"tokens": 999}, {"tokens": 1000}, "budget.tokens"),
        ({"usd": 1.0}, {"usd": 0.99}, {"usd": 1.0}, "budget.usd"),
        ({"target": 0.1, "lower_is_better": True}, {"best_metric": 0.2}, {"best_metric": 0.1}, "budget.target"),
        ({"target": 0.9}, {"best_metric": 0.8}, {"best_metric": 0.95}, "budget.target"),
        (
            {"bound": 0.0, "lower_is_better": True},
            {"best_metric": 1.0},
            {"best_metric": 0.0},
            "nothing is better than 0",
        ),
        ({"repeats": 5}, {"repeats": 4, "steps": 900}, {"repeats": 5}, "budget.repeats: the writer has nothing new"),
        (
            {"nothing_left": 3},
            {"best_metric": 1.0, "nothing_left": 2},
            {"best_metric": 1.0, "nothing_left": 3},
            "budget.nothing_left",
        ),
        (
            {"stagnation": 4},
            {"best_metric": 1.0, "steps_since_best": 3},
            {"best_metric": 1.0, "steps_since_best": 4},
            "budget.stagnation",
        ),
    ],
)
def test_each_limit_speaks_exactly_when_it_is_reached(limit, before, reached, word):
    rule = stopping(**limit)
    if before is not None:
        assert rule.reason(Progress(**before)) is None
    assert rule.reason(Progress(**reached)).startswith(word)


def test_no_limit_never_stops():
    assert stopping().reason(Progress(steps=10**9, usd=1e9)) is None


def test_reaching_the_target_is_named_before_a_limit_that_is_reached_too():
    rule = stopping(target=1.0, max_steps=5)
    assert rule.reason(Progress(steps=5, best_metric=1.5)).startswith("budget.target")


def test_nothing_stagnates_before_the_first_score_and_no_target_is_reached():
    rule = stopping(stagnation=1, target=0.0, lower_is_better=True, bound=0.0, nothing_left=1)
    assert rule.reason(Progress(steps_since_best=50, nothing_left=50)) is None


def test_a_run_that_cannot_cost_anything_is_not_stopped_by_its_dollar_cap():
    assert stopping(usd=0.0).reason(Progress(usd=0.0)) is None


@pytest.mark.parametrize(
    ("limit", "progress", "said"),
    [
        ({"max_steps": 1}, {"steps": 1}, "max_steps: 1 of 1 step"),
        ({"max_steps": 0}, {"steps": 1}, "max_steps: the run has 1 step, more than the 0 allowed now"),
        ({"max_generations": 1}, {"generations": 1}, "max_generations: 1 of 1 generation"),
        ({"stagnation": 1}, {"best_metric": 1.0, "steps_since_best": 1}, "budget.stagnation: no new best in 1 step"),
        (
            {"repeats": 1},
            {"repeats": 1},
            "budget.repeats: the writer has nothing new, its last program was known already",
        ),
        (
            {"repeats": 2},
            {"repeats": 2},
            "budget.repeats: the writer has nothing new, its last 2 programs were known already",
        ),
        (
            {"nothing_left": 1},
            {"best_metric": 1.0, "nothing_left": 1},
            "budget.nothing_left: the writer of the last step sees nothing left to gain",
        ),
        (
            {"nothing_left": 2},
            {"best_metric": 1.0, "nothing_left": 2},
            "budget.nothing_left: the writers of the last 2 steps see nothing left to gain",
        ),
    ],
)
def test_one_is_told_as_one_and_several_as_several(limit, progress, said):
    assert stopping(**limit).reason(Progress(**progress)) == said
