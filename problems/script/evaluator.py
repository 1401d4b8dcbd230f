"""Turns what a user's evaluator said into verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.contracts import Evaluation, Evaluator, EvaluatorDeps, ExecutionResult, JobSpec
from core.evaluation.base import failed_run, nothing_better, parent_metric, source_of
from core.evaluation.static_check import syntax_refusal
from core.evaluation.tune import tune_program
from core.state.failure import FailureKind
from core.state.node import Node
from problems.script.blocks import block_lines
from utils.direction import Direction

ARTIFACT_CHARS = 4_000
MOST_ARTIFACTS = 12


class ScriptEvaluator(Evaluator):
    """Judges nodes alone, by the user's evaluator.

    Args:
        evaluator: the user's file.
        options: for the harness: `thresholds`, `cascade`, `metric`.
        metric: name of the metric that steers; None: `combined_score`, else the mean of all numbers.
        timeout: seconds for one evaluation.
    """

    together = False

    def __init__(
        self,
        deps: EvaluatorDeps,
        evaluator: Path,
        *,
        options: dict[str, Any],
        metric: str | None,
        timeout: float,
        lower_is_better: bool,
    ) -> None:
        self._deps, self._evaluator, self._options = deps, evaluator, options
        self._metric, self._timeout = metric, timeout
        self._lower_is_better = lower_is_better

    def check(self, node: Node) -> Evaluation | None:
        return syntax_refusal(node.code)

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        return [self.score(node.code, node.id) for node in nodes]

    def score(self, code: str, label: str = "") -> Evaluation:
        """The user's verdict on a program of the node `label`."""
        reason = self._shared_reason()
        payload = {
            "code": code,
            "inputs": str(self._evaluator.parent),
            "evaluator": self._evaluator.name,
            "options": self._options,
            "limits": self._deps.limits.model_dump(mode="json"),
            "timeout": self._timeout,
            "seed": self._deps.seed,
            "apart": reason is None,
            "reason": reason,
        }
        spec = JobSpec(
            entry="problems.script.job:evaluate", payload=payload, label=label, seconds=3 * self._timeout + 60
        )
        return self.verdict(self._deps.jobs.run(spec))

    def tune(self, node: Node, node_id: str, seed: int) -> Evaluation:
        """Search better numbers inside the evolving blocks, each trial scored in full."""
        known = parent_metric(node, self._deps.journal)
        tuned = tune_program(
            node.code,
            lambda code: self.score(code, node_id).metric,
            trials=self._deps.tune_trials,
            seed=seed,
            lower_is_better=self._lower_is_better,
            lines=block_lines(node.code),
        )
        if tuned is None or tuned.score == tuned.start or not self._better(tuned.score, known):
            return nothing_better(node)
        verdict = self.score(tuned.code)
        detail = {"trials": tuned.trials, "start": tuned.start, "end": tuned.score}
        return verdict.model_copy(update={"code": tuned.code, "metadata": {**verdict.metadata, "tune": detail}})

    def _better(self, score: float, known: float | None) -> bool:
        return Direction(self._lower_is_better).better(score, known)

    def _shared_reason(self) -> str | None:
        """Why the user's own program had to share a sandbox with the evaluator: then every candidate does at once."""
        first = next((n for n in self._deps.journal if n.operator in ("baseline", "user")), None)
        return (first.unisolated_reason or None) if first is not None else None

    # ------------------------------------------------------------ reading

    def verdict(self, run: Mapping[str, Any]) -> Evaluation:
        isolated = run["isolated"] and self._deps.isolated
        reason = "" if isolated else run["refused"] or "there is no sandbox"
        common: dict[str, Any] = {
            "seconds": run["seconds"], "term_out": run["output"], "unisolated_reason": reason,
        }  # fmt: skip
        if run["program"] is not None:
            verdict = failed_run(ExecutionResult.model_validate(run["program"]))
            return verdict.model_copy(update={"unisolated_reason": reason, "seconds": run["seconds"]})
        if run["error"]:
            last = run["error"].strip().splitlines()[-1]
            failure, text = FailureKind.EVAL_ERROR, {"term_out": run["output"] + run["error"]}
            late = f" (problem.options.evaluation_timeout={self._timeout:g})" if run["seconds"] >= self._timeout else ""
            return Evaluation(failure=failure, message=f"evaluator: {last}{late}", **{**common, **text})
        value = _mapping(run["value"])
        metrics = _mapping(value.get("metrics"))
        score, message = self.steering(metrics)
        artifacts = texts(value.get("artifacts"))
        common |= {"metrics": metrics, "artifacts": artifacts}
        if score is None:
            failure = FailureKind.NON_FINITE if "not finite" in message else FailureKind.EVAL_ERROR
            return Evaluation(failure=failure, message=message, **common)
        source = source_of(isolated)
        return Evaluation(metric=score, source=source, **common)

    def steering(self, metrics: Mapping[str, Any]) -> tuple[float | None, str]:
        """(the metric that steers, '') or (None, what is wrong)."""
        name = self._metric or ("combined_score" if "combined_score" in metrics else None)
        if name is not None:
            if name not in metrics:
                return (
                    None,
                    f"the evaluator returned no metric {name!r}; it has {', '.join(map(str, metrics)) or 'none'}",
                )
            value = number(metrics[name])
            return value, "" if value is not None else f"metric {name!r} is not finite: {metrics[name]!r}"
        numbers = [value for key, raw in metrics.items() if key not in ("error", "stage") and _is_number(raw)
                   if (value := number(raw)) is not None]  # fmt: skip
        if not numbers:
            return None, "the evaluator returned no number"
        return sum(numbers) / len(numbers), ""


def _mapping(raw: Any) -> dict[str, Any]:
    """What the evaluator's process sent, where it has the form it should have; else {}."""
    return raw if isinstance(raw, dict) else {}


def number(raw: Any) -> float | None:
    """A finite number, or None."""
    return float(raw) if _is_number(raw) and math.isfinite(raw) else None


def _is_number(raw: Any) -> bool:
    return isinstance(raw, int | float) and not isinstance(raw, bool)


def texts(artifacts: Any) -> dict[str, str]:
    """Artifacts as short texts for the next prompt."""
    if not isinstance(artifacts, Mapping):
        return {}
    return {str(k)[:80]: str(v)[:ARTIFACT_CHARS] for k, v in list(artifacts.items())[:MOST_ARTIFACTS]}
