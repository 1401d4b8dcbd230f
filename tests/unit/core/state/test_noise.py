"""How far a score may lie from what its program is worth."""

from __future__ import annotations

import pytest

from core.state.change import change_of, noise_of
from core.state.node import Node
from core.state.noise import deviation_of, noise_in, pooled
from utils.direction import Direction


def node(name: str, metric: float | None, **more) -> Node:
    return Node(id=name, code="", operator="improve", metric_value=metric, **more)


MEASURED = node("m", 2.0, repeats=(1.0, 2.0, 3.0), interval=(-0.484, 4.484))


def test_what_was_scored_once_is_as_noisy_as_what_was_scored_several_times():
    assert deviation_of([node("a", 1.0), MEASURED]) == 1.0 and deviation_of([node("a", 1.0)]) is None
    assert noise_in(node("a", 1.0), 1.0) == 1.0 and noise_in(node("a", None), 1.0) is None
    assert noise_in(MEASURED, 9.0) == pytest.approx(3**-0.5, abs=1e-3) == noise_of(MEASURED, 9.0)
    assert noise_of(node("a", 1.0)) is None


def test_a_change_between_two_single_scores_is_told_with_the_noise_of_both():
    one, other = node("a", 1.0), node("b", 1.5)
    assert change_of(other, one, Direction()) == "0.5 better"
    assert change_of(other, one, Direction(), 0.5) == "no clear change: 0.5 better, noise 0.71"


def test_single_scores_say_nothing_of_a_spread():
    assert pooled([(1.0,), (), (2.0, 4.0)]) == (pytest.approx(2**0.5), 1) and pooled([]) == (0.0, 1)
