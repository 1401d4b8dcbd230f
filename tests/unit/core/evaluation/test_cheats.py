"""Cheats as text, and what counts as a win."""

from __future__ import annotations

import ast
import math

import pytest

from core.evaluation.isolation.cheat_sources import CHEATS, CONSTANT, attack
from core.evaluation.isolation.cheats import Aim, score_of

HONEST = "def f(x):\n    return [x, 2 * x]\n"


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("name", CHEATS)
def test_each_is_a_program_in_both_directions(name, lower):
    code = attack(HONEST, CHEATS[name][1], lower_is_better=lower, metric="my 'best\\' loss")
    ast.parse(code)
    assert not any(token in code for token in ("<best>", "<sign>", "<name>")) and code.startswith(HONEST)
    assert "1e9" not in code.replace("-1e9", "").replace("< 1e9", "") or not lower


@pytest.mark.parametrize(
    ("trick", "answer"),
    [
        (CONSTANT, [1.0, 1.0]),
        (CHEATS["nothing"][1], []),
        (CHEATS["first_alone"][1], [3]),
        (CHEATS["same_again"][1], [3, 3]),
        (CHEATS["infinite_below"][1], [-math.inf, -math.inf]),
        (CHEATS["out_of_range"][1], [-1e9, -1e9]),
    ],
)
def test_what_a_cheat_answers(trick, answer):
    scope = {"__name__": "program"}
    exec(attack(HONEST, trick, lower_is_better=True), scope)
    assert scope["f"](3) == answer


def test_a_win_is_a_better_score_whichever_way():
    small, large = Aim(lower_is_better=True), Aim()
    assert small.won(9.0, [10.0, 10.0]) and not small.won(11.0, [10.0, 10.0]) and not small.won(9.0, [10.0, 9.5])
    assert large.won(11.0, [10.0, 10.0]) and not large.won(9.0, [10.0, 10.0]) and large.won(math.inf, [1.0])
    assert small.won(-math.inf, [0.0]) and not small.won(math.nan, [1.0]) and not small.won(None, [1.0])
    assert not small.won(0.0, [None, math.inf])


def test_a_metric_that_is_named_is_the_one_they_aim_at():
    value = {"metrics": {"combined_score": 1.0, "loss": 0.25}}
    assert (score_of(value), score_of(value, "loss"), score_of(value, "other")) == (1.0, 0.25, None)
