"""The test split, opened once: the chosen rules, the references on the same instances, and how rules transfer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.contracts import CaseScore, Evaluation, EvaluatorDeps, FinalEvaluation
from core.evaluation.base import side_by_side
from core.state.node import Node
from problems.bin_packing import references
from problems.bin_packing.instances import (
    FAMILIES,
    Instance,
    excess_interval,
    excess_over_bound,
    excess_shares,
    generate_split,
)
from problems.bin_packing.rules import Rule, RuleFailed
from problems.bin_packing.stages import PackingStages
from problems.highs import Clock, Solved, SolverOptions, fewest_bins

CROSS_SETS = ("weibull_1k", "weibull_5k", "weibull_10k", "u120", "u250", "u500", "u1000")
CROSS_INSTANCES = 10


def final_scores(
    stages: PackingStages, nodes: Sequence[Node], solver: SolverOptions, deps: EvaluatorDeps
) -> list[Evaluation]:
    """Verdicts on the test instances; the first carries the references and the cross-set table in its metadata."""
    test = stages.data.test
    if solver.solver is not None:
        deps.doing("final part: the solver looks for the best packings")
    known = solved(test, solver)
    rules = stages.rules([node.code for node in nodes], stages.data.items, stages.data.capacity)
    verdicts = side_by_side(deps, "final part: programs packed", rules, lambda rule: _on_test(stages, rule, known))
    if verdicts:
        deps.doing("final part: known rules packed, to compare with")
        extra = {
            "test_instances": len(test),
            "references": references_on(stages, test) | _of_solver(known, test),
            "cross_set": cross_table(stages, nodes[0].code, deps),
        }
        verdicts[0] = verdicts[0].model_copy(update={"metadata": {**verdicts[0].metadata, **extra}})
    return verdicts


def solved(instances: Sequence[Instance], solver: SolverOptions) -> list[Solved | None]:
    """What HiGHS finds with all items at hand, where that is asked for and nobody told the best known packing."""
    if solver.solver is None:
        return [None] * len(instances)
    clock = Clock(solver.solver_seconds, len(instances))
    return [None if one.best else fewest_bins(one.sizes.tolist(), one.capacity, clock.share()) for one in instances]


def _of_solver(known: Sequence[Solved | None], instances: Sequence[Instance]) -> dict[str, dict[str, Any]]:
    """The solver as one more reference, where it has an answer for every instance."""
    used = [int(found.value) for found in known if found is not None]
    if not used or len(used) < len(instances):
        return {}
    interval = excess_interval(used, instances)
    return {"highs": {"excess": excess_over_bound(used, instances), "interval": interval and list(interval)}}


def _on_test(stages: PackingStages, rule: Rule | Evaluation, known: Sequence[Solved | None]) -> Evaluation:
    if isinstance(rule, Evaluation):
        return rule
    verdict = stages.score(rule, stages.data.test)
    if verdict.failure:
        return verdict
    used = [int(count) for count in verdict.signature]
    interval = excess_interval(used, stages.data.test)
    rows = tuple(_case(*row) for row in zip(used, stages.data.test, known, strict=True))
    shares = excess_shares(used, stages.data.test)
    return FinalEvaluation(**{**dict(verdict), "interval": interval, "table": rows, "shares": shares})


def _case(used: int, instance: Instance, found: Solved | None) -> CaseScore:
    """Against the best known packing where the file tells it or a solver found it, else against the lower bound."""
    bound = instance.best or (int(found.value) if found else instance.lower_bound)
    name = f"{instance.name} (best known)" if instance.best else found.told(instance.name) if found else instance.name
    return CaseScore(case=name, value=used, bound=bound, gap=used / bound - 1 if bound else None)


def references_on(stages: PackingStages, instances: Sequence[Instance]) -> dict[str, dict[str, Any]]:
    """Name → {excess, interval} of every reference on the same instances."""
    rows = {}
    for name, used in reference_counts(stages, instances).items():
        interval = excess_interval(used, instances)
        rows[name] = {"excess": excess_over_bound(used, instances), "interval": interval and list(interval)}
    return rows


def reference_counts(stages: PackingStages, instances: Sequence[Instance]) -> dict[str, list[int]]:
    """Name → bins used on each instance."""
    capacity = instances[0].capacity
    codes = {
        "first_fit": references.FIRST_FIT,
        "best_fit": references.BEST_FIT,
        "funsearch_or": references.FUNSEARCH_OR,
        "sum_of_squares": references.sum_of_squares(capacity),
    }
    rules = stages.rules(list(codes.values()), _sizes(instances), capacity)
    counts: dict[str, list[int]] = {"funsearch_weibull": vector_counts(instances)}
    for name, rule in zip(codes, rules, strict=True):
        used = None if isinstance(rule, Evaluation) else rule.used(instances)
        if used is not None:
            counts[name] = used
    return dict(sorted(counts.items()))


def vector_counts(instances: Sequence[Instance]) -> list[int]:
    """Bins that FunSearch's Weibull rule uses, by its compiled loop."""
    import numpy as np

    from problems.bin_packing.compiled import pack_neighbours

    return [
        int(pack_neighbours(one.sizes, one.capacity, np.empty(len(one.sizes), dtype=np.int64))) for one in instances
    ]


def cross_table(stages: PackingStages, code: str, deps: EvaluatorDeps) -> dict[str, dict[str, float | None]]:
    """Data set → rule → excess on held-out instances of that set. Heuristics do not transfer: this shows how little."""

    def row(name: str) -> dict[str, float | None]:
        instances = generate_split(name, "test", CROSS_INSTANCES)
        rule = stages.rules([code], _sizes(instances), FAMILIES[name].capacity)[0]
        counts = reference_counts(stages, instances)
        excess = {reference: excess_over_bound(used, instances) for reference, used in counts.items()}
        return {"this": _excess(rule, instances), **excess}

    rows = side_by_side(deps, "final part: other data sets packed", CROSS_SETS, row)
    return dict(zip(CROSS_SETS, rows, strict=True))


def _excess(rule: Rule | Evaluation, instances: Sequence[Instance]) -> float | None:
    if isinstance(rule, Evaluation):
        return None
    try:
        used = rule.used(instances)
    except RuleFailed:
        return None
    return None if used is None else excess_over_bound(used, instances)


def _sizes(instances: Sequence[Instance]) -> list[int]:
    import numpy as np

    return [int(size) for size in np.unique(np.concatenate([instance.sizes for instance in instances]))]
