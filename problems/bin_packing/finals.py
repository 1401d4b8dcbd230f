"""The test split, opened once: the chosen rules, the references on the same instances, and how rules transfer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.contracts import CaseScore, Evaluation, EvaluatorDeps, FinalEvaluation
from core.evaluation.base import as_time_allows
from core.state.node import Node
from problems.bin_packing.cross_sets import cross_table, references_on
from problems.bin_packing.instances import Instance, excess_interval, excess_over_bound, excess_shares
from problems.bin_packing.rules import Rule
from problems.bin_packing.stages import PackingStages
from problems.highs import Clock, Solved, SolverOptions, fewest_bins


def final_scores(
    stages: PackingStages, nodes: Sequence[Node], solver: SolverOptions, deps: EvaluatorDeps
) -> list[Evaluation | None]:
    """Verdicts on the test instances; the first carries the references and the cross-set table in its metadata."""
    test = stages.data.test
    if solver.solver is not None:
        deps.doing("final part: the solver looks for the best packings")
    known = solved(test, solver)
    rules = stages.rules([node.code for node in nodes], stages.data.items, stages.data.capacity)
    verdicts = as_time_allows(deps, "final part: programs packed", rules, lambda rule: _on_test(stages, rule, known))
    if verdicts and verdicts[0] is not None:
        deps.doing("final part: known rules packed, to compare with")
        extra = {
            "test_instances": len(test),
            "references": references_on(stages, test) | _of_solver(known, test),
            "cross_set": cross_table(
                stages,
                nodes[0].code,
                deps,
                an_item=(verdicts[0].seconds or 0.0) / sum(len(one.sizes) for one in test),
            ),
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
