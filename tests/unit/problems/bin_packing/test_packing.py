"""The compiled loops give the packing of the plain ones, item for item."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from problems.bin_packing import job
from problems.bin_packing.arithmetic import translate
from problems.bin_packing.compiled import pack_neighbours, pack_ranked, rank_table
from problems.bin_packing.job import lockstep
from problems.bin_packing.machine import FAILED, arrays, pack_program
from problems.bin_packing.packing import bins_used, pack_histogram, pack_pair, pack_vector
from problems.bin_packing.references import FIRST_FIT, FUNSEARCH_OR, funsearch_weibull, sum_of_squares

CAPACITY = 12
sizes_ = st.lists(st.integers(1, CAPACITY), min_size=1, max_size=60)
tables = st.lists(st.integers(-3, 3), min_size=(CAPACITY + 1) ** 2, max_size=(CAPACITY + 1) ** 2)
"""Few different scores, so that ties between levels abound."""


def load(code: str):
    names: dict[str, object] = {}
    exec(code, names)
    return names["score_bin"]


def by_table(table: np.ndarray, sizes: list[int], most: int = 1 << 60) -> tuple[list[int], int]:
    chosen = np.full(len(sizes), -1, dtype=np.int64)
    items, rows = np.unique(sizes, return_inverse=True)
    used = pack_ranked(*rank_table(table[items], items), rows, np.array(sizes), table.shape[0] - 1, chosen, most)
    return chosen.tolist(), used


def by_machine(code: str, sizes: list[int], capacity: int) -> tuple[list[int], int]:
    program = translate(code)
    assert program is not None
    chosen = np.full(len(sizes), -1, dtype=np.int64)
    used = pack_program(*arrays(program), np.array(sizes), capacity, chosen, 1 << 60)
    return chosen.tolist(), used


@given(tables, sizes_)
def test_a_table_packs_as_the_rule_does(flat, sizes):
    table = np.array(flat, dtype=float).reshape(CAPACITY + 1, CAPACITY + 1)
    plain = pack_pair(lambda item, room: table[item, room], sizes, CAPACITY)
    chosen, used = by_table(table, sizes)
    assert chosen == plain
    assert used == bins_used(plain)


@given(sizes_, st.integers(0, 30))
def test_packing_stops_as_soon_as_too_many_bins_are_open(sizes, most):
    table = np.tile(-np.arange(CAPACITY + 1.0), (CAPACITY + 1, 1))
    full = by_table(table, sizes)[1]
    assert by_table(table, sizes, most)[1] == min(full, most + 1)


@given(
    sizes_,
    st.sampled_from([
        "histogram[remaining_capacity] - histogram[gap]",
        "sum(histogram[:gap]) - gap / item",
        "-abs(histogram[gap] - 2) if gap > 3 else histogram[min(gap + 2, 12)]",
        "max(histogram[item], gap) * (1 if remaining_capacity == 12 else -0.5)",
    ]),
)  # fmt: skip
def test_the_machine_packs_as_the_rule_does(sizes, expression):
    head = "def score_bin(item, remaining_capacity, histogram):\n    gap = remaining_capacity - item\n"
    code = f"{head}    return {expression}\n"
    plain = pack_histogram(load(code), sizes, CAPACITY)
    assert by_machine(code, sizes, CAPACITY) == (plain, bins_used(plain))


class Asked:
    """A session that answers with a function of this process."""

    away = 0.0

    def __init__(self, rule) -> None:
        self.rule = rule

    def call_many(self, function, batch, *, timeout):
        ((states,),) = batch
        return [[[float(self.rule(item, room, h)) for room in levels] for item, levels, h in states]]


@given(st.lists(sizes_, min_size=1, max_size=4))
def test_lockstep_packs_as_the_rule_does(instances):
    rule = load(sum_of_squares(CAPACITY))
    assert lockstep(Asked(rule), instances, CAPACITY, 1.0) == [pack_histogram(rule, one, CAPACITY) for one in instances]


class Tabulating:
    """A session that runs the loops of PRELUDE in this process."""

    away = 0.0

    def __init__(self, code: str) -> None:
        self.frames = 0
        self.names: dict = {}
        exec(code + job.PRELUDE, self.names)

    def call_many(self, function, batch, *, timeout):
        self.frames += 1
        return [self.names[function](*args) for args in batch]


@given(st.sets(st.integers(1, CAPACITY), min_size=1), st.integers(1, 40))
def test_a_table_in_parts_is_the_table(sizes, most):
    items = sorted(sizes)
    code = "def score_bin(item, remaining_capacity):\n    return item * 100 + remaining_capacity\n"
    asked, pairs = Tabulating(code), sum(CAPACITY + 1 - item for item in items)
    whole = asked.names["tabulate__"](items, CAPACITY)
    with patch.object(job, "PAIRS_A_FRAME", most):
        assert job.table_of(asked, "tabulate__", [], items, CAPACITY, 9.0) == {"table": whole}
    assert (asked.frames == 1) == (pairs <= most or len(items) == 1)


def test_a_part_that_is_no_number_is_named():
    asked = Tabulating("def score_bin(item, remaining_capacity):\n    return 1 / 1e-320 if item == 7 else 0\n")
    with patch.object(job, "PAIRS_A_FRAME", 5):
        found = job.table_of(asked, "tabulate__", [], [2, 7, 9], CAPACITY, 9.0)
    assert found["failure"] == "non_finite" and found["message"] == "score_bin(7, 7) is inf"


@given(sizes_)
def test_funsearchs_weibull_rule_needs_no_more_than_two_unopened_bins(sizes):
    plain = pack_vector(funsearch_weibull, sizes, CAPACITY)
    chosen = np.empty(len(sizes), dtype=np.int64)
    used = pack_neighbours(np.array(sizes), CAPACITY, chosen)
    assert chosen.tolist() == plain
    assert used == bins_used(plain)


def test_a_vector_rule_of_single_bins_packs_as_the_pair_rule():
    """Our protocol is the published one: unopened bins are scored, the first of equals wins."""
    sizes = np.random.default_rng(1).integers(20, 101, 200).tolist()
    for code in (FIRST_FIT, FUNSEARCH_OR):
        rule = load(code)
        vector = pack_vector(lambda item, bins, r=rule: np.array([float(r(item, room)) for room in bins]), sizes, 150)
        assert pack_pair(rule, sizes, 150) == vector


def test_a_rule_that_python_would_refuse_is_handed_back():
    code = "def score_bin(item, remaining_capacity, histogram):\n    return 1 / histogram[remaining_capacity]\n"
    assert by_machine(code, [3, 4], CAPACITY)[1] == FAILED
