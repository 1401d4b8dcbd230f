"""Scores trees: runs the command in base and changes, reads the metrics, and voids what touched anything locked."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.contracts import Evaluation, EvaluatorDeps, ExecutionResult, JobSpec
from core.evaluation.base import failed_command, refused, scored_parent, source_of
from core.evaluation.repeats import RepeatableEvaluator
from core.evaluation.timing import interval_of_median, timed_spec
from core.state.failure import FailureKind
from core.state.node import Node
from problems.command.job import MOST_RUNS, not_graded
from problems.command.spec import is_folder
from problems.command.tree.scores import COUNTS, Condition, Source, metrics_of
from problems.command.tree.tree import Ground, Tree, TreeError, read_tree
from utils.globs import matches

_NO_COMMAND = (126, 127)
"""Exit codes of a shell that finds no such program, or may not start it (POSIX)."""
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Scoring:
    """The user's command on a repository, and what is read from it."""

    command: str
    metric: str
    sources: tuple[Source, ...] = (Source("output"),)
    require: tuple[Condition, ...] = ()
    build: str | None = None
    build_inputs: tuple[str, ...] = ("**",)
    """Files whose change makes the build run again."""
    writable: tuple[str, ...] = ()
    """Locked files that build and command may write all the same: outputs that lie in the base."""
    grade: str | None = None
    output: str = "output.txt"
    timed: bool = False
    repeats: int = 1
    alone: bool = False
    lower_is_better: bool = False


class TreeEvaluator(RepeatableEvaluator):
    """Judges trees one by one; a score is `verified` only where a file is graded outside."""

    together = False

    def __init__(self, ground: Ground, scoring: Scoring, deps: EvaluatorDeps) -> None:
        self._ground, self._scoring, self._deps = ground, scoring, deps
        self._repeats = self._repeated(deps)
        files = ground.base.files
        self._writable = [path for path in files if scoring.writable and matches(path, scoring.writable)]

    def check(self, node: Node) -> Evaluation | None:
        try:
            read_tree(self._ground, node.code)
        except TreeError as error:
            failure = FailureKind.TAMPERED if error.locked else FailureKind.REPLY_ERROR
            return Evaluation(failure=failure, message=str(error))
        return None

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        return [self.check(node) or self._first_look(node) for node in nodes]

    def _first_look(self, node: Node) -> Evaluation:
        parent = scored_parent(node, self._deps.journal) if self._scoring.timed else None
        return self._score(read_tree(self._ground, node.code), node.id, self._rival(parent))

    def _rival(self, parent: Node | None) -> Tree | None:
        """The parent's tree; None where there is none, or a resume has locked what it changed."""
        try:
            return read_tree(self._ground, parent.code) if parent is not None else None
        except TreeError:
            return None

    def anew(self, node: Node) -> Evaluation:
        return self._score(read_tree(self._ground, node.code), node.id)

    def _score(self, tree: Tree, label: str, rival: Tree | None = None) -> Evaluation:
        """Args:
        rival: what a timed tree is measured by turns with.
        """
        answer = self._deps.jobs.run(self._spec(tree, label, rival))
        answers = answer.get("answers") or [answer]
        verdicts = [self.verdict(one) for one in answers]
        if self._is_built_outside(tree):
            verdicts = [verdict.model_copy(update={"source": source_of(False)}) for verdict in verdicts]
        last = next((verdict for verdict in verdicts if verdict.metric is None), verdicts[-1])
        if last.metric is None or len(verdicts) == 1:
            return last  # what is asked of a program is asked of each of its runs
        if answer["timing"] is not None:
            low, high = answer["timing"]["interval"]
            samples = list(answer["timing"]["samples"])
            found = _with_samples(last, answer["timing"]["seconds"], (low, high), samples)
            beside = answer.get("beside")
            return found.model_copy(update={"beside_parent": tuple(beside)}) if beside else found
        samples = [verdict.metric for verdict in verdicts if verdict.metric is not None]
        return _with_samples(last, statistics.median(samples), interval_of_median(samples), samples)

    def _spec(self, tree: Tree, label: str, rival: Tree | None) -> JobSpec:
        scoring, deps = self._scoring, self._deps
        runs = MOST_RUNS + 1 if scoring.timed else scoring.repeats
        payload = {
            "inputs": str(self._ground.base.folder), "changes": dict(tree.changes), "command": scoring.command,
            "build": scoring.build, "build_inputs": list(scoring.build_inputs), "writable": self._writable,
            "hidden": list(self._ground.hidden), "reports": self._reports, "written": self._written(tree, rival),
            "output": scoring.output, "grade": scoring.grade,
            "limits": deps.limits.model_dump(mode="json"), "seed": deps.seed, "runs": runs, "timed": scoring.timed,
            "rival": None if rival is None else dict(rival.changes),
        }  # fmt: skip
        entry = "problems.command.tree.job:" + ("evaluate" if runs == 1 else "repeated")
        seconds = (2 if rival is None else 4) * (runs + 1) * deps.limits.seconds + 120
        if scoring.timed or scoring.alone:
            spec = timed_spec(entry, payload, deps.limits)
        else:
            spec = JobSpec(entry=entry, payload=payload, memory_mb=deps.limits.memory_mb)
        return spec.model_copy(update={"label": label, "seconds": seconds})

    @property
    def _reports(self) -> list[str]:
        """Files that metrics are read from: none where all is graded outside, since a candidate writes them."""
        kinds = () if self._scoring.grade else ("json", "junit")
        return [source.what for source in self._scoring.sources if source.kind in kinds]

    def _written(self, *trees: Tree | None) -> list[str]:
        """Files that count only if the command writes them: what lies there before it would be taken for its work.

        What a candidate hands in as a file is its work too, but for a time: then it must be made while that is taken.
        """
        taken, output = [*self._reports], self._scoring.output
        if self._scoring.grade and is_folder(output):
            there = {*self._ground.base.files}.union(*(tree.changes for tree in trees if tree is not None))
            taken += sorted(path for path in there if path.startswith(output))
        elif self._scoring.grade:
            taken.append(output)
        return [path for path in taken if self._scoring.timed or not self._ground.may_change(path)]

    def _is_built_outside(self, tree: Tree) -> bool:
        """True where a time says little of a candidate: its own build, which is not timed, could do the work.

        Of all programs of a run or of none, the one it starts from too: scores of two kinds would not be comparable.
        """
        scoring = self._scoring
        if not (scoring.timed and scoring.build):
            return False
        return any(matches(path, scoring.build_inputs) for path in (*self._ground.searched(), *tree.changes))

    def verdict(self, answer: Mapping[str, Any]) -> Evaluation:
        """Of one run."""
        scoring = self._scoring
        result = ExecutionResult.model_validate(answer["result"])
        if answer["touched"]:
            return _void(result, answer["touched"])
        output, graded = result.term_out, answer["graded"]
        if scoring.grade and graded is None and result.exit_code not in _NO_COMMAND:
            return failed_command(result)  # what it printed is its own: only what is graded is told
        if graded is not None:
            output = graded["output"]
        metrics, fault = metrics_of(scoring.sources, scoring.metric, output, answer["reports"])
        told = {"metrics": metrics}
        if result.exit_code in _NO_COMMAND:
            last = result.term_out.strip().splitlines()[-1:] or [f"exit code {result.exit_code}"]
            return refused(result, FailureKind.EVAL_ERROR, f"the command cannot be run: {last[0]}")
        unmet = next((why for condition in scoring.require if (why := condition.unmet(metrics))), "")
        if unmet and result.failure in (None, FailureKind.EXIT):
            return refused(result, FailureKind.EVAL_ERROR, _with_reason(unmet, metrics), **told)
        if result.failure is not None and not self._counts_failed_tests(result, metrics):
            return failed_command(result).model_copy(update=told)
        if graded is not None and graded["code"] != 0:
            return refused(result, FailureKind.EVAL_ERROR, not_graded(graded))
        return self._read(result, metrics, fault)

    def _counts_failed_tests(self, result: ExecutionResult, metrics: Mapping[str, Any]) -> bool:
        """True where the score counts tests, and the exit code says no more than that some of them failed."""
        failed = metrics.get("failed", 0)
        is_explained = isinstance(failed, int | float) and failed > 0
        return result.failure is FailureKind.EXIT and self._scoring.metric in COUNTS and is_explained

    def _read(self, result: ExecutionResult, metrics: dict[str, Any], fault: str) -> Evaluation:
        scoring = self._scoring
        source = source_of(self._deps.isolated and bool(scoring.grade))
        value = result.exec_time if scoring.timed else metrics.get(scoring.metric)
        if value is None:
            known = ", ".join(list(metrics)[:20]) or "no metric at all"
            message = fault or f"the command told no `{scoring.metric}`; it told {known}"
            return refused(result, FailureKind.EVAL_ERROR, message, metrics=metrics)
        if not isinstance(value, int | float):
            return refused(result, FailureKind.EVAL_ERROR, f"{scoring.metric} is no number: {value}", metrics=metrics)
        if not math.isfinite(value):
            return refused(result, FailureKind.NON_FINITE, f"{scoring.metric} is {value}")
        return Evaluation(
            metric=float(value), source=source, seconds=result.exec_time, term_out=result.term_out, metrics=metrics
        )


def _with_reason(unmet: str, metrics: Mapping[str, Any]) -> str:
    """What is not met, and why, where the command told an `error`."""
    said = metrics.get("error")
    return f"{unmet}: {said}" if isinstance(said, str) and said.strip() else unmet


def _void(result: ExecutionResult, touched: Sequence[str]) -> Evaluation:
    more = f" and {len(touched) - _NAMED} more" if len(touched) > _NAMED else ""
    message = f"it changed files while it was scored: {', '.join(touched[:_NAMED])}{more}"
    return refused(result, FailureKind.TAMPERED, message)


def _with_samples(
    last: Evaluation, value: float, interval: tuple[float, float], samples: Sequence[float]
) -> Evaluation:
    metadata = {**last.metadata, "samples": list(samples)}
    return last.model_copy(update={"metric": value, "interval": interval, "metadata": metadata})
