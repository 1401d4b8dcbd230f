from __future__ import annotations

import time
from dataclasses import replace

import pytest

from core.evaluation.cascade import ALWAYS_FULL
from core.state.failure import FailureKind
from core.state.node import Node
from problems.bin_packing.cross_sets import CROSS_SETS, cross_table, reference_counts
from problems.bin_packing.evaluator import PackingEvaluator
from problems.bin_packing.problem import BinPackingProblem, Options
from problems.bin_packing.references import BEST_FIT, FIRST_FIT, FUNSEARCH_OR, sum_of_squares
from utils.errors import JobLost


@pytest.fixture(scope="module")
def problem() -> BinPackingProblem:
    return BinPackingProblem("u120", Options(validation=30, test=10))


@pytest.fixture
def evaluator(problem, deps) -> PackingEvaluator:
    return problem.evaluator(deps)


def node(id: str, code: str, operator: str = "mutate", **fields) -> Node:
    return Node(id=id, code=code, operator=operator, **fields)


def commit(deps, nodes, verdicts) -> None:
    for one, verdict in zip(nodes, verdicts, strict=True):
        fields = {
            "metric_value": verdict.metric,
            "behaviour": verdict.behaviour,
            "cheap_score": verdict.cheap_score,
            "is_valid": not verdict.duplicate_of,
        }
        deps.journal.append(one.model_copy(update=fields))


def test_scores_are_those_of_the_plain_loop(evaluator, problem):
    from problems.bin_packing.instances import excess_over_bound
    from problems.bin_packing.packing import bins_used, pack_histogram

    for name, code in (("a", BEST_FIT), ("b", sum_of_squares(150))):
        names: dict = {}
        exec(code, names)
        rule = names["score_bin"]
        three = rule if name == "b" else (lambda item, room, h, rule=rule: rule(item, room))
        used = [bins_used(pack_histogram(three, one.sizes, 150)) for one in problem.data.validation]
        (verdict,) = evaluator.evaluate([node(name, code, "baseline")])
        assert verdict.metric == pytest.approx(excess_over_bound(used, problem.data.validation), abs=1e-12)
        assert verdict.signature == tuple(map(float, used))
        assert verdict.source == "verified"
        total, *lost = verdict.metrics.values()
        slack = len(used) / sum(one.lower_bound for one in problem.data.validation)
        assert total == verdict.metric and total <= sum(lost) <= total + slack, "where all of the excess was lost"
        assert list(verdict.metrics)[1] == "lost in bins with 1 to 3 left"


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        ("return 1 / 0", FailureKind.RUNTIME),
        ("return float('nan')", FailureKind.NON_FINITE),
        ("return 'x'", FailureKind.RUNTIME),
        ("return undefined", FailureKind.RUNTIME),
    ],
)
@pytest.mark.parametrize("parameters", ["item, remaining_capacity", "item, remaining_capacity, histogram"])
def test_failures_are_verdicts_and_do_not_touch_the_neighbours(evaluator, rule, body, failure, parameters):
    broken = node("broken", f"def score_bin({parameters}):\n    {body}\n")
    bad, good = evaluator.evaluate([broken, node("good", rule("-gap"))])
    assert bad.failure is failure and bad.metric is None and bad.message
    assert "__" not in bad.message, "a writer knows no helper of ours"
    if failure is FailureKind.NON_FINITE:
        assert bad.message.startswith("score_bin(") and bad.message.endswith(" is nan")
    assert good.metric is not None


def test_a_rule_with_a_loop_runs_in_the_sandbox_and_scores_alike(evaluator, deps):
    direct = (
        "def score_bin(item, remaining_capacity, histogram):\n    return sum(histogram[2:9]) - remaining_capacity\n"
    )
    looped = (
        "def score_bin(item, remaining_capacity, histogram):\n    total = 0\n    for k in range(2, 9):\n"
        "        total += histogram[k]\n    return total - remaining_capacity\n"
    )
    first = evaluator.evaluate([node("a", direct, "baseline")])[0]
    assert deps.jobs.entries == []
    second = evaluator.evaluate([node("b", looped, "baseline")])[0]
    assert set(deps.jobs.entries) == {"problems.bin_packing.job:pack"}
    assert first.metric == second.metric and first.signature == second.signature


END_GAME = """\
def score_bin(item, remaining_capacity, histogram):
    packed = sum((150 - r) * count for r, count in enumerate(histogram))
    if packed > {late} and remaining_capacity == 150:
        return -1000.0
    return -(remaining_capacity - item)
"""
"""Best fit until `late` units are packed; from then on a bin is opened only where no other has room."""


def test_a_rule_that_differs_only_beyond_the_probe_gets_its_own_score(problem, deps):
    evaluator = problem.evaluator(deps)
    probe = int(problem.data.probe.sizes.sum())
    plain, late = END_GAME.format(late=10**9), END_GAME.format(late=probe).replace("-1000.0", "1000.0")
    nodes = [node("a", plain), node("b", late)]
    first, second = evaluator.evaluate(nodes)
    assert first.behaviour == second.behaviour, "on the probe they decide alike"
    assert second.duplicate_of is None and second.metric is not None and second.metric > first.metric
    commit(deps, nodes, [first, second])
    (again,) = evaluator.evaluate([node("c", late.replace("1000.0", "999.0"))])
    assert again.metric == second.metric, "across rounds too"


def test_only_the_best_of_a_round_get_the_full_score(problem, deps, rule):
    evaluator = PackingEvaluator(problem.data, deps, signature="pair", top_k=2)
    rules = [rule(f"4 if gap <= {k} else -gap" if k % 2 else f"gap % {k + 2}") for k in range(8)]
    verdicts = evaluator.evaluate([node(str(i), code) for i, code in enumerate(rules)])
    full = [v for v in verdicts if v.metric is not None]
    looked = [v for v in verdicts if v.metric is None and not v.duplicate_of]
    assert len(full) == 2 and looked
    assert all(v.failure is None and v.rung == "cheap" for v in looked)
    assert max(v.cheap_score for v in full) <= min(v.cheap_score for v in looked)


@pytest.mark.parametrize("operator", sorted(ALWAYS_FULL))
def test_founders_are_always_scored_in_full(problem, deps, operator):
    evaluator = PackingEvaluator(problem.data, deps, signature="pair", top_k=1)
    verdicts = evaluator.evaluate([node("a", FIRST_FIT, operator), node("b", BEST_FIT, operator)])
    assert all(v.metric is not None for v in verdicts)


def test_verdicts_do_not_depend_on_the_threads(problem, deps, rule):
    rules = [rule(f"(3 if gap <= {k} else 0) - gap / {k + 1}") for k in range(6)]
    nodes = [node(str(i), code) for i, code in enumerate(rules)]
    outcomes = []
    for slots in (1, 3):
        deps.jobs.slots = slots
        evaluator = PackingEvaluator(problem.data, deps, signature="pair", top_k=3)
        outcomes.append([v.model_copy(update={"seconds": 0.0}) for v in evaluator.evaluate(nodes)])
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    "code",
    [
        "def score_bin(item, remaining_capacity):\n    gap = remaining_capacity - item\n"
        "    return (4.0 if gap <= 2 else 0) + 0.02 * gap\n",
        "def score_bin(item, remaining_capacity, histogram):\n    gap = remaining_capacity - item\n"
        "    return (4.0 if gap <= 2 else 0) + 0.02 * gap + 0.01 * histogram[gap]\n",
    ],
)
def test_tuning_finds_better_constants_and_repeats(evaluator, deps, code):
    parent = node("p", code, "baseline")
    commit(deps, [parent], evaluator.evaluate([parent]))
    child = node("t", code, "tune", parent_ids=("p",))
    verdict = evaluator.tune(child, "t", 3)
    assert verdict.metric is not None and verdict.metric < deps.journal["p"].metric_value
    assert verdict.code is not None and verdict.code != code
    again = evaluator.tune(child, "t", 3)
    assert (again.code, again.metric) == (verdict.code, verdict.metric)
    assert evaluator.evaluate([node("n", verdict.code, "baseline")])[0].metric == verdict.metric


def test_nothing_to_tune_is_a_duplicate_of_the_parent(evaluator, deps, rule):
    parent = node("p", rule("-gap"), "baseline")
    commit(deps, [parent], evaluator.evaluate([parent]))
    verdict = evaluator.tune(node("t", rule("-gap"), "tune", parent_ids=("p",)), "t", 3)
    assert verdict.duplicate_of == "p" and verdict.failure is None


@pytest.mark.parametrize("found", [(0.0, None), (None, None)], ids=["the first fails", "all fail"])
def test_a_tuning_whose_first_trial_fails_ends_no_run(evaluator, deps, rule, monkeypatch, found):
    parent = node("p", rule("-gap * 2"), "baseline")
    commit(deps, [parent], evaluator.evaluate([parent]))
    score, start = found
    answer = {"code": rule("-gap * 3"), "score": score, "start": start}
    monkeypatch.setattr(evaluator, "_deps", replace(deps, jobs=Answers(deps.jobs, answer)))
    verdict = evaluator.tune(node("t", parent.code, "tune", parent_ids=("p",)), "t", 3)
    assert verdict.duplicate_of == "p" and verdict.failure is None


class Answers:
    """Jobs that answer a tuning as told."""

    def __init__(self, jobs, answer) -> None:
        self._jobs, self._answer = jobs, answer

    def run(self, spec):
        return self._answer if spec.entry.endswith("tune_rule") else self._jobs.run(spec)

    def map(self, specs):
        return self._jobs.map(specs)


def test_the_end_opens_the_test_split_beside_the_references(evaluator, problem):
    first, second = evaluator.final([node("a", FUNSEARCH_OR), node("b", BEST_FIT)])
    low, high = first.interval
    assert low <= first.metric <= high
    references = first.metadata["references"]
    assert set(references) == {"best_fit", "first_fit", "funsearch_or", "funsearch_weibull", "sum_of_squares"}
    assert references["funsearch_or"]["excess"] == first.metric
    assert references["best_fit"]["excess"] == second.metric
    assert first.metadata["test_instances"] == 10
    table = first.metadata["cross_set"]
    assert set(table) == set(CROSS_SETS)
    assert table["u500"]["this"] < table["u500"]["best_fit"], "the rule of the OR-Library is better at home"
    assert table["weibull_5k"]["this"] > table["weibull_5k"]["funsearch_weibull"], "and worse abroad"


def test_other_data_sets_are_packed_as_far_as_their_time_does(evaluator, deps, capsys, monkeypatch):
    class Slow:
        output = ""

        def used(self, instances, most=None):
            time.sleep(sum(len(one.sizes) for one in instances) / 20_000)
            return [one.lower_bound for one in instances]

    monkeypatch.setattr(evaluator.stages, "rules", lambda codes, items, capacity: [Slow() for _ in codes])
    deps.allowance._end = time.monotonic() + 3
    found = cross_table(evaluator.stages, BEST_FIT, deps)
    assert "u120" in found and "weibull_10k" not in found, "0.06 s for 1,200 items; 100,000 would take 5 s"
    deps.allowance.begin(100)
    assert cross_table(evaluator.stages, BEST_FIT, deps, an_item=1) == {}
    assert f"did not pack {', '.join(CROSS_SETS)}, at most 30 s in all" in capsys.readouterr().err


def test_known_rules_are_packed_without_a_sandbox(evaluator, problem, monkeypatch):
    rules = evaluator.stages.rules([FIRST_FIT, FUNSEARCH_OR], problem.data.items, problem.data.capacity)
    in_the_sandbox = [rule.used(problem.data.test) for rule in rules]
    monkeypatch.setattr(evaluator.stages, "_tabulate", lambda codes, items, capacity: [1 / 0 for _ in codes])
    counts = reference_counts(evaluator.stages, problem.data.test)
    assert [counts["first_fit"], counts["funsearch_or"]] == in_the_sandbox


def test_no_finished_count_is_told_while_the_final_part_goes_on(problem, deps):
    told = []
    problem.evaluator(replace(deps, doing=told.append)).final([node("a", BEST_FIT)])
    after = told[told.index("final part: programs packed: 1 of 1") + 1]
    assert after == "final part: known rules packed, to compare with"


def test_the_second_look_has_instances_that_no_search_step_saw(evaluator, problem):
    data = problem.data
    assert len(data.choice) == 3 * len(data.validation)
    splits = [data.train, data.validation, data.test, data.choice]
    heads = [tuple(instance.sizes[:50]) for split in splits for instance in split]
    assert len(set(heads)) == len(heads), "an instance is in two splits"
    (verdict,) = evaluator.second_look([node("a", BEST_FIT)])
    assert len(verdict.signature) == len(data.validation) + len(data.choice)
    (before,) = evaluator.evaluate([node("b", BEST_FIT, "baseline")])
    assert verdict.signature[: len(data.validation)] == before.signature and verdict.metric != before.metric


def test_a_founder_that_the_gate_refuses_is_a_verdict(evaluator, rule):
    codes = ["def score_bin(", "import os\n" + rule("0"), rule("-gap")]
    verdicts = evaluator.evaluate([node(str(i), code, "user") for i, code in enumerate(codes)])
    assert [v.failure for v in verdicts] == [FailureKind.SYNTAX, FailureKind.IMPORT_BLOCKED, None]


def test_a_lost_worker_costs_one_program_not_the_round(evaluator, deps, rule, monkeypatch):
    real = deps.jobs.run

    def run(spec):
        if any("deadly" in code for code in spec.payload["codes"]):
            raise JobLost("the worker is gone")
        return real(spec)

    monkeypatch.setattr(deps.jobs, "run", run)
    codes = [rule("-gap"), rule("gap") + "# deadly\n", rule("gap % 7")]
    verdicts = evaluator.evaluate([node(str(i), code) for i, code in enumerate(codes)])
    assert [v.failure for v in verdicts] == [None, FailureKind.LOST_WORKER, None]
