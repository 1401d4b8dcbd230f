"""Runs the user's command on a candidate and reads the metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from core.contracts import Evaluation, EvaluatorDeps, ExecutionResult, JobSpec
from core.evaluation.base import failed_command, nothing_better, parent_metric, refused, scored_parent, source_of
from core.evaluation.repeats import RepeatableEvaluator
from core.evaluation.timing import timed_spec
from core.evaluation.tune import MOST_LITERALS, tune
from core.state.failure import FailureKind
from core.state.node import Node
from problems.command.bundle import read_metric, split
from problems.command.job import MOST_RUNS, not_graded, plain_files
from problems.command.spec import CommandSpec
from problems.numbers import movable, numbers, with_numbers
from utils.direction import Direction

_NO_COMMAND = (126, 127)
"""Exit codes of a shell that finds no such program, or may not start it (POSIX)."""


class CommandEvaluator(RepeatableEvaluator):
    """Runs the command in the sandbox and reads the metric; the score is `verified` only where it is graded outside.

    Args:
        hidden: names of files beside the sources that no program sees. Nor does one see what comes to lie there once
            the search has begun: a grader works in that folder. Nor, where that is graded, an output of before.
    """

    together = False

    def __init__(self, spec: CommandSpec, deps: EvaluatorDeps, hidden: Sequence[str] = ()) -> None:
        self._spec, self._deps = spec, deps
        out = {*hidden, *([spec.output] if spec.grade else [])}
        self._beside = [name for name in plain_files(spec.folder) if name not in out] if spec.folder.is_dir() else []
        self._repeats = self._repeated(deps)

    def check(self, node: Node) -> Evaluation | None:
        if split(node.code, self._spec.names) is None:
            message = f"exactly these files are needed, each below `=== name ===`: {', '.join(self._spec.names)}"
            return Evaluation(failure=FailureKind.REPLY_ERROR, message=message)
        return None

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        return [self._one(node) for node in nodes]

    def tune(self, node: Node, node_id: str, seed: int) -> Evaluation:
        """Search better numbers for a copy of the parent, in any language, each trial scored in full."""
        lower = self._spec.lower_is_better
        start = dict(islice(movable(node.code).items(), MOST_LITERALS))
        texts = [match.group() for match in numbers(node.code)]

        def program(values: Sequence[int | float]) -> str:
            moved = dict(zip(start, map(repr, values), strict=True))
            return with_numbers(node.code, [moved.get(at, text) for at, text in enumerate(texts)])

        found, score, first = tune(
            list(start.values()),
            lambda values: self._score(program(values), node_id).metric,
            trials=self._deps.tune_trials if start else 0,
            seed=seed,
            lower_is_better=lower,
        )
        known = parent_metric(node, self._deps.journal)
        known = first if known is None else known
        if not Direction(lower).better(score, known):
            return nothing_better(node)
        code = program(found)
        detail = {"trials": self._deps.tune_trials, "start": first, "end": score}
        return self._score(code).model_copy(update={"code": code, "metadata": {"tune": detail}})

    def anew(self, node: Node) -> Evaluation:
        return self._score(node.code, node.id)

    def _one(self, node: Node) -> Evaluation:
        parent = scored_parent(node, self._deps.journal) if self._spec.timed else None
        return self.check(node) or self._score(node.code, node.id, rival=parent.code if parent else "")

    def _score(self, code: str, label: str = "", *, rival: str = "") -> Evaluation:
        """Args:
        rival: a program that a timed one is measured by turns with; '' for none.
        """
        command, deps = self._spec, self._deps
        payload = {
            "files": split(code, command.names),
            "inputs": str(command.folder),
            "command": command.command,
            "beside": self._beside,
            "output": command.output,
            "grade": command.grade,
            "limits": deps.limits.model_dump(mode="json"),
            "seed": deps.seed,
        }
        spec = JobSpec(entry="problems.command.job:evaluate", payload=payload)
        if command.timed:
            payload["rival"] = split(rival, command.names) if rival else None
            seconds = (4 if rival else 2) * (MOST_RUNS + 1) * deps.limits.seconds + 60
            spec = timed_spec("problems.command.job:timed", payload, deps.limits)
            spec = spec.model_copy(update={"seconds": seconds})
        answer = deps.jobs.run(spec.model_copy(update={"label": label}))
        verdict = self.verdict(ExecutionResult.model_validate(answer["result"]), answer["graded"], answer.get("timing"))
        beside = answer.get("beside") if verdict.metric is not None else None
        return verdict.model_copy(update={"beside_parent": tuple(beside)}) if beside else verdict

    def verdict(
        self, result: ExecutionResult, graded: Mapping[str, Any] | None, timing: Mapping[str, Any] | None = None
    ) -> Evaluation:
        if result.exit_code in _NO_COMMAND:
            last = result.term_out.strip().splitlines()[-1:] or [f"exit code {result.exit_code}"]
            return refused(result, FailureKind.EVAL_ERROR, f"the command cannot be run: {last[0]}")
        if result.failure is not None:
            return failed_command(result)
        output = result.term_out
        if self._spec.grade:
            assert graded is not None
            if graded["code"] != 0:
                return refused(result, FailureKind.EVAL_ERROR, not_graded(graded))
            output = graded["output"]
        source = source_of(self._deps.isolated and bool(self._spec.grade))
        if timing is not None:
            low, high = timing["interval"]
            return Evaluation(
                metric=timing["seconds"], interval=(low, high), source=source, seconds=sum(timing["samples"]),
                term_out=result.term_out, metadata={"samples": list(timing["samples"])},
                limit_share=round(timing["seconds"] / self._deps.limits.seconds, 4),
            )  # fmt: skip
        value = read_metric(output, self._spec.metric)
        if value is None:
            message = f"no `{self._spec.metric}: value` in the output"
            return refused(result, FailureKind.EVAL_ERROR, message)
        if not math.isfinite(value):
            return refused(result, FailureKind.NON_FINITE, f"{self._spec.metric} is {value}")
        return Evaluation(metric=value, source=source, seconds=result.exec_time, term_out=result.term_out)
