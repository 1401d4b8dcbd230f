"""What a user's evaluator said, read as a verdict."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from core.contracts import Evaluation
from core.evaluation.base import failed_run, source_of
from core.evaluation.isolation.apart import program_failure
from core.evaluation.isolation.evaluator import EvaluatorRun
from core.state.failure import FailureKind
from utils.clean_text import shortened
from utils.direction import finite

ARTIFACT_CHARS = 4_000
MOST_ARTIFACTS = 12
_PATH, _ROOT = re.compile(r"[^\s\"]+"), re.compile("/")
_OURS = re.compile(r"/(?=swarm_evo_harness\.py|core/(?:evaluation/isolation|executor/inside)/\w+\.py)")
"""Our own files in a traceback, wherever this machine has them."""


def verdict_of(run: EvaluatorRun, *, metric: str | None, timeout: float, unisolated: str) -> Evaluation:
    """The verdict.

    Args:
        metric: name of the metric that steers; see `steering`.
        timeout: of the evaluation, for the message of a late one.
        unisolated: why the candidate could have reached the evaluator; '' if it could not.
    """
    common: dict[str, Any] = {"seconds": run.seconds, "term_out": run.output, "unisolated_reason": unisolated}
    failed = program_failure(run)
    if failed is not None:
        return failed_run(failed).model_copy(update=common)
    if run.error:
        late = f" (problem.options.evaluation_timeout={timeout:g})" if run.seconds >= timeout else ""
        said = {"term_out": run.output + run.error, "message": f"evaluator: {run.line}{late}"}
        return Evaluation(failure=FailureKind.EVAL_ERROR, **{**common, **said})
    value = _mapping(run.value)
    score, fault = steering(value, metric)
    common |= {"metrics": _mapping(value.get("metrics")), "artifacts": texts(value.get("artifacts"))}
    if score is None:
        failure = FailureKind.NON_FINITE if "not finite" in fault else FailureKind.EVAL_ERROR
        return Evaluation(failure=failure, message=fault, **common)
    return Evaluation(metric=score, source=source_of(not unisolated), **common)


def without_folder(run: EvaluatorRun, folder: str) -> EvaluatorRun:
    """The run, without the place of the evaluator's folder on this machine in what was printed and raised."""
    said = {name: getattr(run, name).replace(folder, "<evaluator>") for name in ("output", "error", "line")}
    return run.model_copy(
        update={name: shortened(text, _PATH, _ROOT, _OURS, "<harness>/") for name, text in said.items()}
    )


def steering(value: Any, metric: str | None) -> tuple[float | None, str]:
    """(the number that steers, '') of what the harness returned, or (None, what is wrong).

    Args:
        metric: its name; None: `combined_score`, else the mean of all numbers.
    """
    metrics = _mapping(_mapping(value).get("metrics"))
    name = metric or ("combined_score" if "combined_score" in metrics else None)
    if name is not None:
        if name not in metrics:
            return None, f"the evaluator returned no metric {name!r}; it has {', '.join(map(str, metrics)) or 'none'}"
        found = number(metrics[name])
        return found, "" if found is not None else f"metric {name!r} is not finite: {metrics[name]!r}"
    numbers = [
        found for key, raw in metrics.items() if key not in ("error", "stage") and (found := number(raw)) is not None
    ]
    if not numbers:
        return None, "the evaluator returned no number"
    return sum(numbers) / len(numbers), ""


def number(raw: Any) -> float | None:
    """A finite number, or None."""
    return finite(raw) if isinstance(raw, int | float) else None


def texts(artifacts: Any) -> dict[str, str]:
    """Artifacts as short texts for the next prompt."""
    if not isinstance(artifacts, Mapping):
        return {}
    return {str(k)[:80]: str(v)[:ARTIFACT_CHARS] for k, v in list(artifacts.items())[:MOST_ARTIFACTS]}


def _mapping(raw: Any) -> dict[str, Any]:
    """What the evaluator's process sent, where it has the form it should have; else {}."""
    return raw if isinstance(raw, dict) else {}
