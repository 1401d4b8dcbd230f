import random

import pytest
from pydantic import ValidationError

from core.search.grid import Axis, Grid, feature
from core.state.node import Node


def grid_of(axes: dict[str, dict[str, float]]) -> Grid:
    return Grid({name: Axis.model_validate(axis) for name, axis in axes.items()})


def node(name: str, fitness: float, code: str = "pass", **features: float) -> Node:
    return Node(id=name, code=code, fitness=fitness, metric_value=fitness, features=features)


def test_a_cell_keeps_its_best_and_only_that():
    grid = grid_of({"size": {"low": 0, "high": 10, "bins": 5}})
    assert grid.add(node("a", 1.0, size=3))
    assert not grid.add(node("b", 1.0, size=2.1))
    assert grid.add(node("c", 2.0, size=2))
    assert grid.add(node("d", 0.0, size=9))
    assert [n.id for n in grid.allowed()] == ["c", "d"] and [n.id for n in grid.get_top_k(1)] == ["c"]
    assert [n.id for n in grid.sample(5, random.Random(0), {"c"})] == ["d"]


def test_values_outside_fall_into_the_outermost_bins_and_missing_ones_nowhere():
    grid = grid_of({"size": {"low": 0, "high": 10, "bins": 5}, "length": {"low": 0, "high": 100, "bins": 2}})
    assert grid.cell(node("a", 1.0, size=-3)) == (0, 0)
    assert grid.cell(node("b", 1.0, "x" * 500, size=99)) == (4, 1)
    assert grid.cell(node("e", 1.0, size=1.7e308)) == (4, 0) and grid.cell(node("f", 1.0, size=-1.7e308)) == (0, 0)
    assert grid_of({"x": {"low": 0, "high": 0.5, "bins": 10}}).cell(node("g", 1.0, x=1.7e308)) == (9,)
    assert grid.cell(node("c", 1.0)) is None
    assert grid.cell(node("d", 1.0, size=float("nan"))) is None


def test_knows_features_of_every_program():
    one = node("a", 1.0, "def f(x):\n    return x * 2 + 0.5\n")
    assert feature(one, "constants") == 2
    assert feature(one, "length") == len(one.code)
    assert feature(node("b", 1.0, "not python ("), "nodes") is None
    assert feature(one, "unknown") is None


def test_sampling_is_even_over_cells():
    grid = grid_of({"size": {"low": 0, "high": 4, "bins": 4}})
    for i in range(4):
        grid.add(node(f"n{i}", float(i), size=i))
    rng = random.Random(0)
    counts = [0] * 4
    for _ in range(2000):
        counts[int(grid.sample(1, rng)[0].id[1])] += 1
    assert min(counts) > 400


@pytest.mark.parametrize(
    "axis", [{"low": 1, "high": 1, "bins": 2}, {"low": 0, "high": 1}, {"low": 0, "high": 1, "bins": 0}]
)
def test_refuses_a_broken_axis(axis):
    with pytest.raises(ValidationError):
        Axis.model_validate(axis)
