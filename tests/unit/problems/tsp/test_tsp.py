from __future__ import annotations

import math
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contracts import Limits
from core.evaluation.function_problem import FunctionEvaluator
from core.state.failure import FailureKind
from core.state.node import Node
from problems.tsp.instances import excess, generate, tour_length
from problems.tsp.problem import DRIVER, Options, TourProblem, build
from problems.tsp.tour_instance import TourInstance
from problems.tsp.writer import NEAREST, TourWriter
from utils.errors import ConfigError
from utils.response import parse_response


def test_length_of_a_square():
    square = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)]
    assert tour_length(square, [0, 1, 2, 3]) == 4
    assert tour_length(square, [0, 2, 1, 3]) == pytest.approx(2 + 2 * math.sqrt(2))
    assert excess(square, [3, 2, 1, 0]) == pytest.approx(4 / (0.7124 * 2) - 1)


def test_the_parts_of_a_tour_add_up_to_its_score():
    problem = TourProblem(Options(cities=3, instances=1))
    ((points,), tour) = problem.cases("validation"), [[0, 2, 1]]
    parts = problem.measures(points, tour)
    assert sum(parts.values()) == pytest.approx(problem.score(points, tour) + 1)
    assert parts["way home"] * 0.7124 * math.sqrt(3) == pytest.approx(math.dist(points[1], points[0]))


def test_what_a_matrix_has_from_a_city_to_itself_is_no_distance():
    rows = [[9999.0 if a == b else abs(a - b) + 1.0 for b in range(5)] for a in range(5)]
    plain = [[0.0 if a == b else cell for b, cell in enumerate(row)] for a, row in enumerate(rows)]
    assert TourInstance("m", [], matrix=rows).view() == TourInstance("m", [], matrix=plain).view()


@pytest.mark.parametrize("tour", [[0, 1, 2], [0, 1, 2, 2], [0, 1, 2, 4], []])
def test_what_is_no_tour_is_refused(tour):
    with pytest.raises(ValueError, match="every city"):
        tour_length([(0.0, 0.0)] * 4, tour)


def test_the_driver_builds_the_nearest_neighbour_tour():
    names: dict = {}
    exec(DRIVER + NEAREST, names)
    (points,) = generate(1, 30, "x")
    tour, left = [0], set(range(1, 30))
    while left:
        here = points[tour[-1]]
        tour.append(min(sorted(left), key=lambda city: math.dist(here, points[city])))
        left.discard(tour[-1])
    assert names["drive"](points) == tour


class Answers:
    """Jobs that answer as told."""

    def __init__(self, answer) -> None:
        self.answer = answer

    def run(self, spec):
        return self.answer


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        ({"answers": [[0, 1, 2]] * 2, "output": "", "seconds": 0.0}, None),
        ({"answers": [[0, 1, 1]] * 2, "output": "", "seconds": 0.0}, FailureKind.EVAL_ERROR),
        ({"answers": [["0", 1, 2]] * 2, "output": "", "seconds": 0.0}, FailureKind.EVAL_ERROR),
        ({"answers": [None, 3], "output": "", "seconds": 0.0}, FailureKind.EVAL_ERROR),
        ({"failure": "timeout", "message": "late"}, FailureKind.TIMEOUT),
    ],
)
def test_tours_are_checked_on_our_side(answer, failure):
    deps = SimpleNamespace(jobs=Answers(answer), limits=Limits(), seed=0, isolated=True, tune_trials=5)
    problem = TourProblem(Options(cities=3, instances=2))
    (verdict,) = FunctionEvaluator(problem, deps).evaluate([Node(id="a", code=NEAREST)])
    assert verdict.failure is failure
    assert (verdict.metric is None) == (failure is not None)


@given(st.sampled_from(["generate", "mutate", "crossover"]), st.integers(0, 10**9))
def test_rules_write_sound_rules(operator, seed):
    facts = {"operator": operator, "parents": [{"code": NEAREST}] * (2 if operator == "crossover" else 1)}
    code, plan = parse_response(TourWriter().write(facts, random.Random(seed)))
    names: dict = {}
    exec(code, names)
    assert plan and isinstance(float(names["score_city"](0.3, 0.5, 0.4, 0.9)), float)


def test_the_statement_says_what_the_rule_is_told():
    points = generate(1, 12, "told")[0]
    told: list[tuple[float, float, float, float]] = []
    names: dict = {"score_city": lambda *facts: told.append(facts) or -facts[0]}
    exec(DRIVER, names)
    tour = names["drive"](points)
    place = 0
    for step, here in enumerate(tour[:-1]):
        left = sorted(set(range(12)) - set(tour[: step + 1]))
        for city in left:
            others = [math.dist(points[city], points[other]) for other in (here, *left) if other != city]
            distance, home, spread, share = told[place]
            assert distance == math.dist(points[here], points[city]) and home == math.dist(points[0], points[city])
            assert spread == pytest.approx(sum(others) / len(others)) and share == len(left) / 12
            place += 1
    assert place == len(told)
    assert "mean distance to the present city and the other unvisited ones" in TourProblem(Options()).statement()


def test_the_solution_alone_prints_its_score_on_the_held_out_instances(tmp_path):
    TourProblem(Options(cities=8)).export(Node(id="a", code=NEAREST), tmp_path, tmp_path)
    command = [sys.executable, "-I", str(tmp_path / "solution.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    names: dict = {}
    exec(DRIVER + NEAREST, names)
    each = [excess(points, names["drive"](points)) for points in generate(100, 8, "tsp/test")]
    assert done.stdout == f"test excess: {sum(each) / 100:.6f}\n"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"town": 3}, r"problem\.options\.town: unknown key; allowed: cities, instances"),
        ({"city": 3}, r"problem\.options\.city: unknown key \(did you mean 'cities'\?\); allowed"),
        ({"cities": 2}, r"problem\.options\.cities=2: allowed: whole number >= 3"),
        ({"instances": 0}, r"problem\.options\.instances=0: "),
        ({"cities": "many"}, r"problem\.options\.cities='many': "),
        ({"cities": True}, r"problem\.options\.cities=True: a number is needed"),
    ],
)
def test_options_are_checked(options, told):
    cfg = SimpleNamespace(problem=SimpleNamespace(options=options, name=None))
    with pytest.raises(ConfigError, match=told):
        build(cfg, Path("."))


def test_a_module_that_is_not_promised_is_refused_before_it_runs():
    (verdict,) = FunctionEvaluator(TourProblem(Options()), SimpleNamespace(tune_trials=5)).evaluate(
        [Node(id="a", code=f"import numpy\n{NEAREST}")]
    )
    assert verdict.failure is FailureKind.IMPORT_BLOCKED and "line 1" in verdict.message
