"""Scores packing rules by rungs: the sandbox gives tables of scores, packing and scoring happen here."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from core.contracts import Evaluation, Evaluator, EvaluatorDeps, ExecutionResult, JobSpec
from core.evaluation.base import failed_run, nothing_better, parent_metric, signature_of, source_of
from core.evaluation.cascade import ALWAYS_FULL, Cascade, Loaded
from core.state.failure import FailureKind
from core.state.node import Node
from problems.bin_packing.data import DataSet
from problems.bin_packing.instances import Instance, excess_over_bound
from problems.bin_packing.program import Signature, arity, inspect
from problems.bin_packing.rules import ArithmeticRule, Rule, RuleFailed, SandboxedRule, TableRule
from utils.errors import JobLost

TABULATE, PACK = "problems.bin_packing.job:tabulate", "problems.bin_packing.job:pack"
CHUNK = 8
"""Programs a tabulation job."""


class PackingStages:
    """How a packing rule climbs the ladder."""

    def __init__(self, data: DataSet, deps: EvaluatorDeps) -> None:
        self.data, self._deps = data, deps
        self._items = data.items
        self._probe = data.probe

    def load(self, nodes: Sequence[Node]) -> list[Loaded[Rule] | Evaluation]:
        rules = self.rules([node.code for node in nodes], self._items, self.data.capacity)
        return [rule if isinstance(rule, Evaluation) else self._probed(rule) for rule in rules]

    def cheap(self, program: Rule, cut: float | None) -> float | None:
        try:
            bound = sum(instance.lower_bound for instance in self.data.train)
            most = {} if cut is None else {"most": int((1 + cut) * bound + 1e-9)}
            used = program.used(self.data.train, **most)
        except RuleFailed:
            return None
        return None if used is None else excess_over_bound(used, self.data.train)

    def full(self, program: Rule) -> Evaluation:
        return self.score(program, self.data.validation)

    def score(self, program: Rule, instances: Sequence[Instance]) -> Evaluation:
        """Excess over a set of instances; the signature is the bins used on each."""
        start = time.perf_counter()
        try:
            used = program.used(instances)
        except RuleFailed as failure:
            return failure.verdict
        assert used is not None
        return Evaluation(
            metric=excess_over_bound(used, instances),
            source=source_of(self._deps.isolated),
            signature=signature_of(used),
            seconds=time.perf_counter() - start,
        )

    def rules(self, codes: Sequence[str], items: Sequence[int], capacity: int) -> list[Rule | Evaluation]:
        """Programs made ready to pack items of those sizes; an Evaluation for what failed."""
        made: list[Rule | Evaluation | None] = [self._arithmetic(code) for code in codes]
        tables = [place for place, rule in enumerate(made) if rule is None]
        answers = self._tabulate([codes[place] for place in tables], items, capacity)
        for place, answer in zip(tables, answers, strict=True):
            made[place] = (
                TableRule.of(answer, items, capacity)
                if "table" in answer
                else failed_run(ExecutionResult.model_validate(answer))
            )
        return [rule for rule in made if rule is not None]

    # ------------------------------------------------------------ loading

    def _arithmetic(self, code: str) -> Rule | None:
        """A rule that sees the histogram; None for one that is tabulated."""
        if arity(code) != 3:
            return None
        from problems.bin_packing.arithmetic import translate
        from problems.bin_packing.machine import arrays

        sandboxed = SandboxedRule(code, self._pack)
        program = translate(code)
        return ArithmeticRule(*arrays(program), otherwise=sandboxed) if program else sandboxed

    def _tabulate(self, codes: Sequence[str], items: Sequence[int], capacity: int) -> list[dict[str, Any]]:
        common = {"items": list(items), "capacity": capacity, **self._common()}
        chunks = [list(codes[start : start + CHUNK]) for start in range(0, len(codes), CHUNK)]
        specs = [JobSpec(entry=TABULATE, payload={"codes": chunk, **common}) for chunk in chunks]
        try:
            return [answer for answers in self._deps.jobs.map(specs) for answer in answers]
        except JobLost:  # one program may have taken its worker along: find it
            single = [JobSpec(entry=TABULATE, payload={"codes": [code], **common}) for code in codes]
            return [self._alone(spec) for spec in single]

    def _alone(self, spec: JobSpec) -> dict[str, Any]:
        """The answer of a job with one program; a lost worker is that program's failure."""
        try:
            answers: list[dict[str, Any]] = self._deps.jobs.run(spec)
            return answers[0]
        except JobLost as error:
            return ExecutionResult(failure=FailureKind(error.failure), message=str(error)).model_dump(mode="json")

    def _pack(self, code: str, instances: Sequence[Instance]) -> dict[str, Any]:
        sizes = [instance.sizes.tolist() for instance in instances]
        payload = {"codes": [code], "instances": sizes, "capacity": instances[0].capacity, **self._common()}
        return self._alone(JobSpec(entry=PACK, payload=payload))

    def _common(self) -> dict[str, Any]:
        return {"limits": self._deps.limits.model_dump(mode="json"), "seed": self._deps.seed}

    def _probed(self, rule: Rule) -> Loaded[Rule] | Evaluation:
        try:
            chosen = rule.chosen(self._probe)
        except RuleFailed as failure:
            return failure.verdict
        return Loaded(rule, blake2b(",".join(map(str, chosen)).encode(), digest_size=8).hexdigest())


class PackingEvaluator(Evaluator):
    """The problem's evaluator; `final` opens the test split."""

    together = True

    def __init__(
        self, data: DataSet, deps: EvaluatorDeps, *, signature: Signature, top_k: int, tune_trials: int
    ) -> None:
        self.data, self._deps, self._signature = data, deps, signature
        self._tune_trials = tune_trials
        self.stages = PackingStages(data, deps)
        self._cascade: Cascade[Rule] = Cascade(
            self.stages, deps.journal, deps.append, top_k=top_k, threads=max(1, deps.jobs.slots)
        )
        threading.Thread(target=warm_up, daemon=True, name="packing-warm-up").start()

    def check(self, node: Node) -> Evaluation | None:
        return inspect(node.code, self._signature)

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        """Verdicts in order. Only founders are checked here: what a writer wrote has passed the gate."""
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
            "trials": self._tune_trials,
        }
        found = self._deps.jobs.run(JobSpec(entry="problems.bin_packing.tuning:tune_rule", payload=payload))
        known = parent_metric(node, self._deps.journal)
        metadata = {
            "rung": "full",
            "tune": {"trials": self._tune_trials, "start": found["start"], "end": found["score"]},
        }
        if found["code"] is not None and found["score"] < found["start"]:
            rule = self.stages.rules([found["code"]], self.data.items, self.data.capacity)[0]
            verdict = rule if isinstance(rule, Evaluation) else self.stages.full(rule)
            if verdict.metric is not None and (known is None or verdict.metric < known):
                return verdict.model_copy(update={"code": found["code"], "metadata": metadata})
        return nothing_better(node, metadata)

    def second_look(self, nodes: Sequence[Node]) -> list[Evaluation]:
        """The best again, on the validation instances and those kept for this: few were selected on the first alone."""
        rules = self.stages.rules([node.code for node in nodes], self.data.items, self.data.capacity)
        instances = [*self.data.validation, *self.data.choice]
        return [rule if isinstance(rule, Evaluation) else self.stages.score(rule, instances) for rule in rules]

    def final(self, nodes: Sequence[Node]) -> list[Evaluation | None]:
        from problems.bin_packing.finals import final_scores

        return list(final_scores(self.stages, nodes))


def warm_up() -> None:
    """Compile the loops, or load them from the cache, while the first candidates are being written."""
    import numpy as np

    from problems.bin_packing.arithmetic import translate
    from problems.bin_packing.compiled import pack_ranked, rank_table
    from problems.bin_packing.machine import arrays, pack_program

    sizes = np.array([1, 2], dtype=np.int64)
    order, tied = rank_table(np.zeros((4, 4)))
    pack_ranked(order, tied, sizes, 3, np.empty(2, dtype=np.int64), 9)
    program = translate(
        "def score_bin(item, remaining_capacity, histogram):\n    return histogram[remaining_capacity]\n"
    )
    assert program is not None
    pack_program(*arrays(program), sizes, 3, np.empty(2, dtype=np.int64), 9)
