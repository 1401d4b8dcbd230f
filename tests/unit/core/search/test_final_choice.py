"""The final choice prefers the simple only where the data cannot tell it from the best."""

from __future__ import annotations

import random

from core.search.final_choice import choose, paired_difference
from core.state.node import Node


def _node(name: str, metric: float, signature: tuple[float, ...], code: str) -> Node:
    return Node(id=name, code=code, metric_value=metric, signature=signature)


RNG = random.Random(0)
HALF = [RNG.gauss(0, 1) for _ in range(10)]
NOISE = (*HALF, *(-x for x in HALF))
LONG, SHORT = "a = 1\nb = a + 2\nc = a * b - 1\nprint(a, b, c)", "print(1)"


def test_no_candidates_no_choice():
    assert choose([]) is None


def test_a_clear_winner_wins_whatever_its_size():
    best = _node("best", 10.0, tuple(10 + x for x in NOISE), LONG)
    other = _node("other", 12.0, tuple(12 + x for x in NOISE), SHORT)
    choice = choose([best, other])
    assert choice is not None and choice.winner.id == "best"
    assert [row["tie"] for row in choice.rows] == [True, False]


def test_a_tie_goes_to_the_simpler_program():
    best = _node("best", 10.0, tuple(10 + x for x in NOISE), LONG)
    same = _node("same", 10.01, tuple(10.01 - x for x in NOISE), SHORT)
    choice = choose([best, same])
    assert choice is not None and choice.winner.id == "same"


def test_equally_simple_programs_keep_their_rank():
    best = _node("best", 10.0, tuple(10 + x for x in NOISE), "x = 1.5")
    same = _node("same", 10.01, tuple(10.01 - x for x in NOISE), "x = 2.25")
    choice = choose([best, same])
    assert choice is not None and choice.winner.id == "best"


def test_without_cases_only_equal_metrics_tie():
    choice = choose([_node("best", 1.0, (), LONG), _node("worse", 1.0001, (), SHORT)])
    assert choice is not None and choice.winner.id == "best"
    choice = choose([_node("best", 1.0, (), LONG), _node("equal", 1.0, (), SHORT)])
    assert choice is not None and choice.winner.id == "equal"


def test_the_error_is_the_standard_error_of_the_mean():
    rng = random.Random(1)
    gaps = [rng.gauss(0.5, 2.0) for _ in range(400)]
    difference, error = paired_difference([0.0] * 400, gaps, seed=3)
    assert abs(difference - 0.5) < 0.3
    assert 0.085 < error < 0.115  # 2 / sqrt(400) = 0.1, within 3 sigma of 400 resamples
