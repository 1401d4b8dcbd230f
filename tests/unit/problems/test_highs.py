"""HiGHS beside heuristics: its answers are those of trying everything, and the last table says where they are from."""

import json
import math
import random
import time
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.bin_packing.finals import _case, _of_solver, solved
from problems.bin_packing.instances import Instance
from problems.highs import SolverOptions, fewest_bins, shortest_tour
from problems.tsp.problem import build
from utils.config import load_config

HIGHS = SolverOptions(solver="highs")


def tried(sizes: list[int], capacity: int) -> int:
    """Fewest bins by trying every assignment."""
    count = len(sizes)
    fits = (
        len(set(into))
        for into in product(range(count), repeat=count)
        if all(sum(s for s, b in zip(sizes, into, strict=True) if b == n) <= capacity for n in range(count))
    )
    return min(fits)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 10), min_size=1, max_size=5), st.integers(10, 14))
def test_no_assignment_needs_fewer_bins(sizes, capacity):
    found = fewest_bins(sizes, capacity, 20)
    assert found.proven and found.value == tried(sizes, capacity)


def test_a_packing_that_needs_more_than_the_lower_bound_is_proven_too():
    """First fit decreasing takes 4 bins here, the total size asks for 3, and 3 can be had."""
    sizes = [7, 6, 5, 5, 4, 3]
    assert fewest_bins(sizes, 10, 20).value == 3 and fewest_bins([6] * 5, 10, 20).value == 5


def test_a_large_capacity_takes_no_table_of_all_its_units_and_arcs():
    """A hundred sizes up to 5,000: 12 GB of zeros, and a MemoryError when the search was over."""
    draw = random.Random(1)
    sizes = [draw.randint(1000, 5000) for _ in range(100)]
    began = time.monotonic()
    found = fewest_bins(sizes, 10_000, 5)
    assert -(-sum(sizes) // 10_000) <= found.value <= 50 and time.monotonic() - began < 60
    large = [size * 997 // 10 for size in (70, 60, 50, 50, 40, 30)]  # arcs are few, units are many
    assert fewest_bins(large, 997 * 10, 20).value == 3


def test_no_tour_is_shorter():
    draw = random.Random(4)
    for _ in range(5):
        points = [(draw.random(), draw.random()) for _ in range(7)]
        table = [[math.dist(a, b) for b in points] for a in points]
        lengths = (
            sum(table[a][b] for a, b in zip((0, *tour), (*tour, 0), strict=True)) for tour in permutations(range(1, 7))
        )
        found = shortest_tour(table, 20)
        assert found is not None and found.proven and found.value == pytest.approx(min(lengths))


def test_what_is_too_large_or_has_no_time_has_no_answer():
    assert shortest_tour(np.ones((300, 300)), 1) is None and shortest_tour(np.ones((10, 10)), 0) is None


def test_the_rows_of_a_packing_say_what_they_are_compared_with():
    known = Instance("told", np.array([6, 6, 5]), 10, best=3)
    open_one = Instance("open", np.array([6, 6, 5, 4, 4, 5]), 10)
    plain, found = (solved([known, open_one], options) for options in (SolverOptions(), HIGHS))
    assert plain == [None, None] and found[0] is None and _of_solver(found, [known, open_one]) == {}
    rows = [_case(4, instance, one) for instance, one in zip((known, open_one), found, strict=True)]
    assert [(row.case, row.bound) for row in rows] == [("told (best known)", 3), ("open (optimum)", 3)]
    assert _of_solver(found[1:], [open_one])["highs"]["excess"] == 0.0


def test_tours_of_ones_own_are_compared_with_the_optimum(tmp_path):
    draw = random.Random(1)
    for number in range(2):
        cities = [[draw.random(), draw.random()] for _ in range(12)]
        (tmp_path / f"{number}.json").write_text(json.dumps({f"town{number}": cities}))
    problem = build(
        load_config(None, ["problem=tsp", f"problem.name={tmp_path}", "problem.options.solver=highs"]), tmp_path
    )
    case = problem.cases("test")[0]
    row = problem.case_score(case, 1, problem.score(case, [list(range(12))]))
    assert row.case == f"{case.name} (optimum)" and row.bound >= case.reference - 1e-6
    assert row.gap == pytest.approx(row.value / row.bound - 1) and row.value == pytest.approx(
        case.length(range(12)), abs=1e-5
    )
