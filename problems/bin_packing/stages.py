"""How packing rules climb the ladder: the sandbox gives tables of scores, packing and scoring happen here."""

from __future__ import annotations

import time
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from core.contracts import Evaluation, EvaluatorDeps, ExecutionResult, JobSpec
from core.evaluation.base import failed_run, signature_of, source_of
from core.evaluation.cascade import Loaded
from core.state.failure import FailureKind
from core.state.node import Node
from problems.bin_packing.data import DataSet
from problems.bin_packing.instances import Instance, excess_over_bound
from problems.bin_packing.lost_room import bins_and_room, told_room
from problems.bin_packing.program import UNIT, arity
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
        """The score that steers, and what it is made of."""
        instances = self.data.validation
        start = time.perf_counter()
        try:
            packed = program.packed(instances, bins_and_room)
        except RuleFailed as failure:
            return failure.verdict
        used, left = [bins for bins, _ in packed], [room for _, room in packed]
        verdict = self._verdict(program, used, instances, start)
        return verdict.model_copy(update={"metrics": {UNIT: verdict.metric, **told_room(left, instances)}})

    def score(self, program: Rule, instances: Sequence[Instance]) -> Evaluation:
        """Excess over a set of instances; the signature is the bins used on each."""
        start = time.perf_counter()
        try:
            used = program.used(instances)
        except RuleFailed as failure:
            return failure.verdict
        assert used is not None
        return self._verdict(program, used, instances, start)

    def _verdict(self, program: Rule, used: Sequence[int], instances: Sequence[Instance], start: float) -> Evaluation:
        return Evaluation(
            metric=excess_over_bound(used, instances),
            source=source_of(self._deps.isolated),
            signature=signature_of(used),
            seconds=time.perf_counter() - start,
            term_out=program.output,
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
            (chosen,) = rule.packed([self._probe], lambda _, bins: bins.tolist())
        except RuleFailed as failure:
            return failure.verdict
        return Loaded(rule, blake2b(",".join(map(str, chosen)).encode(), digest_size=8).hexdigest())
