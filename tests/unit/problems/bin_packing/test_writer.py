from __future__ import annotations

import ast
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.sites import function_of
from core.evaluation.variation import CHANGES, MOST_NODES, size
from problems.bin_packing.arithmetic import translate
from problems.bin_packing.grammar import Grammar
from problems.bin_packing.program import arity, inspect
from problems.bin_packing.references import BEST_FIT, FIRST_FIT, FUNSEARCH_OR, SUM_OF_SQUARES, sum_of_squares
from problems.bin_packing.writer import PackingWriter, random_rule
from utils.response import parse_response

WRITER = PackingWriter()
PARENTS = [FIRST_FIT, BEST_FIT, FUNSEARCH_OR, sum_of_squares(100)]


def context(operator: str, parents: list[str], histogram: bool = True) -> dict:
    return {
        "operator": operator,
        "parents": [{"code": code} for code in parents],
        "extras": {"capacity": 100, "histogram": histogram},
    }


def write(operator: str, parents: list[str], seed: int, histogram: bool = True) -> str:
    code, plan = parse_response(WRITER.write(context(operator, parents, histogram), random.Random(seed)))
    assert code and plan
    return code


@given(
    st.sampled_from(["generate", "mutate", "crossover", "refine", "debug"]),
    st.lists(st.sampled_from(PARENTS), min_size=1, max_size=2),
    st.integers(0, 10**9),
)
def test_writes_rules_that_pass_the_gate(operator, parents, seed):
    code = write(operator, parents, seed)
    assert inspect(code, "histogram") is None
    assert ast.parse(code)


@given(st.sampled_from(["generate", "mutate", "crossover"]), st.integers(0, 10**9))
def test_pair_rules_stay_pair_rules(operator, seed):
    code = write(operator, [BEST_FIT, FUNSEARCH_OR], seed, histogram=False)
    assert arity(code) == 2
    assert inspect(code, "pair") is None
    assert "histogram" not in code


@pytest.mark.long
def test_a_line_of_a_hundred_mutations_stays_sound_and_bounded():
    code = SUM_OF_SQUARES.replace("CAPACITY", "100")
    for seed in range(150):
        code = write("mutate", [code], seed)
        assert inspect(code, "histogram") is None
    assert size(function_of(ast.parse(code), "score_bin")) <= MOST_NODES


@pytest.mark.long
def test_programs_do_not_grow_for_as_long_as_the_search_runs():
    """Crossover adds the parts of two rules: without a limit they doubled and doubled again, and the search slowed."""
    pool = list(PARENTS)
    for seed in range(400):
        rng = random.Random(seed)
        pool.append(write("crossover" if seed % 4 else "mutate", rng.sample(pool[-30:], 2), seed))
    sizes = [size(function_of(ast.parse(code), "score_bin")) for code in pool]
    assert max(sizes) <= MOST_NODES < 2 * max(sizes)


def test_a_large_rule_of_the_users_is_not_cut():
    body = " + ".join(f"{number} * gap" for number in range(1, 120))
    large = f"def score_bin(item, remaining_capacity):\n    gap = remaining_capacity - item\n    return {body}\n"
    before = size(function_of(ast.parse(large), "score_bin"))
    assert before > 2 * MOST_NODES
    sizes = [size(function_of(ast.parse(write("mutate", [large], seed)), "score_bin")) for seed in range(20)]
    assert max(sizes) <= before and sorted(sizes)[10] > before - 100


def test_a_plan_names_the_condition_that_chooses_between_two_scores():
    replies = [WRITER.write(context("crossover", [FIRST_FIT, BEST_FIT]), random.Random(seed)) for seed in range(30)]
    told = [(code, plan) for code, plan in map(parse_response, replies) if "its own score where" in plan]
    assert told and all(plan.split(" where ")[1].split(", else ")[0] in code for code, plan in told)


def test_same_seed_same_program():
    assert write("mutate", [BEST_FIT], 5) == write("mutate", [BEST_FIT], 5)
    assert len({write("mutate", [BEST_FIT], seed) for seed in range(30)}) > 20


HEAD = "def score_bin(item, remaining_capacity):\n"


@pytest.mark.parametrize(
    "broken",
    [
        "def score_bin(",
        "x = 1",
        "def score_bin(a, b):\n    return a\n",
        "",
        HEAD + "    match item:\n        case _:\n            return 1\n",
        HEAD + "    pass\n",
        HEAD + "    return 'text'\n",
    ],
)
@pytest.mark.parametrize("operator", ["mutate", "crossover"])
def test_what_cannot_be_varied_is_replaced_by_a_fresh_rule(broken, operator):
    for seed in range(12):
        for parents in ([broken], [broken, BEST_FIT], [BEST_FIT, broken]):
            assert inspect(write(operator, parents, seed), "histogram") is None


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_each_change_changes_something(change):
    text = "gap = remaining_capacity - item\n    return -gap + (3 if gap <= 5 else 0.25) * item"
    before = f"def score_bin(item, remaining_capacity):\n    {text}\n"
    seen = set()
    for seed in range(20):
        tree = ast.parse(before)
        rng = random.Random(seed)
        if change(function_of(tree, "score_bin"), Grammar(100, False, rng), rng):
            seen.add(ast.unparse(ast.fix_missing_locations(tree)))
    assert len(seen - {ast.unparse(ast.parse(before))}) >= 2
    assert all("gap = remaining_capacity - item" in code for code in seen)


@given(st.integers(0, 10**9))
def test_the_grammar_is_arithmetic(seed):
    """So that rules with a histogram need no sandboxed call for each item."""
    assert translate(random_rule(Grammar(150, True, random.Random(seed)))) is not None
