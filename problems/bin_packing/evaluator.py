"""The evaluator of packing rules: a ladder of rungs for the search, the test split at its end."""

from __future__ import annotations

from collections.abc import Sequence

from core.contracts import Evaluation, Evaluator, EvaluatorDeps, JobSpec
from core.evaluation.base import as_time_allows, nothing_better, parent_metric
from core.evaluation.cascade import ALWAYS_FULL, Cascade
from core.evaluation.repeats import NOT_LOOKED_AT
from core.state.node import Node
from problems.bin_packing.data import DataSet
from problems.bin_packing.finals import final_scores
from problems.bin_packing.program import Signature, inspect
from problems.bin_packing.rules import Rule
from problems.bin_packing.stages import PackingStages
from problems.highs import SolverOptions


class PackingEvaluator(Evaluator):
    """The problem's evaluator; `final` opens the test split."""

    together = True

    def __init__(
        self,
        data: DataSet,
        deps: EvaluatorDeps,
        *,
        signature: Signature,
        top_k: int,
        solver: SolverOptions | None = None,
    ) -> None:
        self.data, self._deps, self._signature, self._solver = data, deps, signature, solver or SolverOptions()
        self.stages = PackingStages(data, deps)
        self._cascade: Cascade[Rule] = Cascade(
            self.stages, deps.journal, deps.append, top_k=top_k, threads=max(1, deps.jobs.slots)
        )

    def check(self, node: Node) -> Evaluation | None:
        return inspect(node.code, self._signature)

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        """Verdicts in order. Only founders are checked here: what a writer wrote was checked before."""
        founders = {place: node for place, node in enumerate(nodes) if node.operator in ALWAYS_FULL}
        refused = {place: verdict for place, node in founders.items() if (verdict := self.check(node))}
        sound = iter(self._cascade.evaluate([node for place, node in enumerate(nodes) if place not in refused]))
        return [refused.get(place) or next(sound) for place in range(len(nodes))]

    def tune(self, node: Node, node_id: str, seed: int) -> Evaluation:
        """Search better constants for the program of `node`, a copy of its parent; a duplicate where there are none.

        The constants are searched on a third of the validation instances and the result is scored on all of them.
        """
        refusal = self.check(node)
        if refusal is not None:
            return refusal
        instances = self.data.validation[: max(2, len(self.data.validation) // 3)]
        payload = {
            "code": node.code,
            "instances": [instance.sizes.tolist() for instance in instances],
            "items": self.data.items,
            "capacity": self.data.capacity,
            "limits": self._deps.limits.model_dump(mode="json"),
            "seed": seed,
            "trials": self._deps.tune_trials,
        }
        found = self._deps.jobs.run(JobSpec(entry="problems.bin_packing.tuning:tune_rule", payload=payload))
        known = parent_metric(node, self._deps.journal)
        tuned = {"tune": {"trials": self._deps.tune_trials, "start": found["start"], "end": found["score"]}}
        start, score = found["start"], found["score"]
        if score is not None and (start is None or score < start):
            rule = self.stages.rules([found["code"]], self.data.items, self.data.capacity)[0]
            verdict = rule if isinstance(rule, Evaluation) else self.stages.full(rule)
            if verdict.metric is not None and (known is None or verdict.metric < known):
                return verdict.model_copy(update={"code": found["code"], "rung": "full", "metadata": tuned})
        return nothing_better(node, rung="full", metadata=tuned)

    def second_look(self, nodes: Sequence[Node]) -> list[Evaluation]:
        """The best again, on the validation instances and those kept for this: few were selected on the first alone."""
        rules = self.stages.rules([node.code for node in nodes], self.data.items, self.data.capacity)
        instances = [*self.data.validation, *self.data.choice]

        def score(rule: Rule | Evaluation) -> Evaluation:
            return rule if isinstance(rule, Evaluation) else self.stages.score(rule, instances)

        found = as_time_allows(self._deps, "the best packed once more for the choice", rules, score)
        return [verdict or NOT_LOOKED_AT for verdict in found]

    def final(self, nodes: Sequence[Node]) -> list[Evaluation | None]:
        return final_scores(self.stages, nodes, self._solver, self._deps)
