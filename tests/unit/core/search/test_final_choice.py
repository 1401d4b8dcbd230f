"""The final choice prefers the simple only where the data cannot tell it from the best."""

from __future__ import annotations

import random
import time

from core.contracts import Evaluation
from core.search.final_choice import choose, looked_again, paired_differences
from core.state.failure import FailureKind
from core.state.node import Node


def _node(name: str, metric: float, signature: tuple[float, ...], code: str) -> Node:
    return Node(id=name, code=code, metric_value=metric, signature=signature)


DRAW = random.Random(0)
HALF = [DRAW.gauss(0, 1) for _ in range(10)]
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
    best_of = choose([best, same], simplest=False)
    assert best_of is not None and best_of.winner.id == "best" and [row["tie"] for row in best_of.rows] == [True, False]


def test_a_tie_that_is_worse_than_a_baseline_wins_nothing():
    """Of few cases much ties: the shortest program won, and scored worse than what its user had."""
    scored = [(10.0, "best", LONG), (10.01, "known", "x = 1\nprint(x)"), (10.02, "worse", SHORT)]
    made = [_node(name, metric, tuple(metric - x for x in NOISE), code) for metric, name, code in scored]
    made[0] = _node("best", 10.0, tuple(10 + x for x in NOISE), LONG)
    assert choose(made[:3]).winner.id == "worse", "nothing else is known"
    top = [made[0], made[1].model_copy(update={"operator": "baseline"}), made[2]]
    choice = choose(top)
    assert choice.winner.id == "known" and [row["tie"] for row in choice.rows] == [True, True, False]
    top[2] = top[2].model_copy(update={"operator": "baseline"})
    assert choose(top).winner.id == "known", "nor does a worse baseline win for being short"


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


def test_without_cases_rounding_is_no_difference():
    best, same = _node("best", 2.63598308491757, (), LONG), _node("same", 2.63598308491756, (), SHORT)
    further = _node("further", 2.6359830, (), SHORT)
    choice = choose([best, same, further])
    assert choice is not None and choice.winner.id == "same" and [row["tie"] for row in choice.rows][2] is False


def test_the_error_is_the_standard_error_of_the_mean():
    rng = random.Random(1)
    gaps = [rng.gauss(0.5, 2.0) for _ in range(400)]
    ((difference, error),) = paired_differences([0.0] * 400, [gaps], 3)
    assert abs(difference - 0.5) < 0.3
    assert 0.085 < error < 0.115  # 2 / sqrt(400) = 0.1, within 3 sigma of 400 resamples


def test_the_error_of_many_cases_is_that_of_the_formula_and_takes_no_time():
    """Five programs of 20,000 cases were resampled for 19 s, which nobody's allowance counted."""
    rng = random.Random(1)
    gaps = [rng.gauss(0.5, 2.0) for _ in range(20_000)]
    began = time.process_time()
    ((difference, error),) = paired_differences([0.0] * 20_000, [gaps], 3)
    assert time.process_time() - began < 0.5
    assert abs(difference - 0.5) < 0.06 and abs(error - 2 / 20_000**0.5) < 0.001
    assert paired_differences([0.0] * 20_000, [gaps[1:]], 3) == [(0.0, 0.0)]


def test_who_failed_at_the_second_look_does_not_win_for_want_of_time_for_the_others():
    """Its first score stood, and it was the winner without a word."""
    top = [_node("slow", 3.0, (), "x"), _node("next", 2.0, (), "y"), _node("last", 1.0, (), "z")]
    seen = [Evaluation(failure=FailureKind.TIMEOUT), Evaluation(), Evaluation()]
    assert looked_again(top, seen, lower_is_better=False) == top[1:]
    assert looked_again(top, [Evaluation(failure=FailureKind.TIMEOUT)] * 3, lower_is_better=False) == []


def test_a_second_look_puts_the_candidates_in_its_own_order():
    top = [
        _node("lucky", 1.0, (1.0, 1.0), "x = 1"),
        _node("good", 2.0, (2.0, 2.0), "y = 2"),
        _node("bad", 3.0, (), "z"),
    ]
    seen = [Evaluation(metric=9.0, signature=(9.0, 9.5)), Evaluation(metric=2.5, signature=(2.0, 3.0))]
    again = looked_again(top, [*seen, Evaluation(failure=FailureKind.TIMEOUT)], lower_is_better=True)
    assert [(node.id, node.metric_value, node.signature) for node in again] == [
        ("good", 2.5, (2.0, 3.0)),
        ("lucky", 9.0, (9.0, 9.5)),
    ]
    assert [node.id for node in looked_again(top[:2], seen, lower_is_better=False)] == ["lucky", "good"]
    choice = choose(again)
    assert choice is not None and choice.winner.id == "good"
