"""What a user's evaluator said, read as a verdict."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.contracts import Evaluation
from core.evaluation.base import failed_run, source_of
from core.evaluation.isolation.apart import program_failure
from core.evaluation.isolation.evaluator import EvaluatorRun
from core.state.failure import FailureKind
from problems.metric_direction import is_error
from problems.script.harness import CASCADE
from utils.clean_text import shortened
from utils.direction import finite
from utils.prompt_text import shorten

COMBINED = "combined_score"
"""What an evaluator calls the number that is to steer."""
ARTIFACT_CHARS = 4_000
"""In UTF-8."""
MOST_ARTIFACTS = 12
FOREIGN = "CandidateError: "
"""Before an exception of the program's that the evaluator's process knows no class of."""
ERROR_CHARS = 400
"""Of what an evaluator says under `error` in place of a score."""
SHOWN = 120
"""Characters of what came back in place of a score."""
_PATH, _ROOT = re.compile(r"[^\s\"]+"), re.compile("/")
_OURS = re.compile(r"/(?=swarm_evo_harness\.py|core/(?:evaluation/isolation|executor/inside)/\w+\.py)")
"""Our own files in a traceback, wherever this machine has them."""
_OUR_FRAME = re.compile(rf'^  File "[^"\n]*{_OURS.pattern.replace("?=", "?:")}", line .*\n(?:    .*\n)*', re.MULTILINE)
"""What stands between the evaluator and its traceback's beginning; nobody who repairs a program can change it."""


def verdict_of(
    run: EvaluatorRun,
    *,
    metric: str | None,
    timeout: float,
    unisolated: str,
    own: Sequence[str] = (),
    call_timeout: float | None = None,
) -> Evaluation:
    """The verdict.

    Args:
        metric, own: which number steers; see `steering`.
        timeout: of the evaluation, for the message of a late one.
        unisolated: why the candidate could have reached the evaluator; '' if it could not.
        call_timeout: seconds for one call of the candidate; None where its calls were not seen.
    """
    common: dict[str, Any] = {"seconds": run.seconds, "term_out": run.output, "unisolated_reason": unisolated}
    common["limit_share"] = _limit_share(run, timeout, call_timeout)
    failed = program_failure(run)
    if failed is not None:
        return failed_run(failed).model_copy(update=common)
    if run.error:
        late = f" (problem.options.evaluation_timeout={timeout:g})" if run.seconds >= timeout else ""
        said = {
            "term_out": run.output + run.error,
            "message": run.line.removeprefix(FOREIGN) if run.raised else f"evaluator: {run.line}{late}",
        }
        kind = FailureKind.RUNTIME if run.raised else FailureKind.EVAL_ERROR
        return Evaluation(failure=kind, **{**common, **said})
    value = _mapping(run.value)
    if isinstance(why := value.get("refused"), str):
        return Evaluation(failure=FailureKind.BAD_SUBMISSION, message=shorten(why, ERROR_CHARS), **common)
    score, failure, fault = steering(value, metric, own)
    common |= {"metrics": _mapping(value.get("metrics")), "artifacts": texts(value.get("artifacts"))}
    if score is None:
        stopped = common["artifacts"].get(CASCADE)
        return Evaluation(failure=failure, message=f"{stopped}; {fault}" if stopped else fault, **common)
    return Evaluation(metric=score, source=source_of(not unisolated), **common)


def _limit_share(run: EvaluatorRun, timeout: float, call_timeout: float | None) -> float:
    """Of which limit a program came nearest to: that of a whole evaluation, or of one call of the many in it."""
    one = 0.0 if call_timeout is None else run.longest_call / call_timeout
    return round(max(run.seconds / timeout, one), 4)


def without_folder(run: EvaluatorRun, folder: str) -> EvaluatorRun:
    """The run, without the place of the evaluator's folder on this machine in what was printed, raised and returned."""
    said = {name: _placeless(getattr(run, name), folder) for name in ("output", "line", "value")}
    return run.model_copy(update={**said, "error": _placeless(_OUR_FRAME.sub("", run.error), folder)})


def _placeless(value: Any, folder: str) -> Any:
    """Plain data with the texts in it rewritten."""
    if isinstance(value, str):
        return shortened(value.replace(folder, "<evaluator>"), _PATH, _ROOT, _OURS, "<harness>/")
    if isinstance(value, dict):
        return {key: _placeless(item, folder) for key, item in value.items()}
    return [_placeless(item, folder) for item in value] if isinstance(value, list) else value


def steering(value: Any, metric: str | None, own: Sequence[str] = ()) -> tuple[float | None, FailureKind | None, str]:
    """(the number that steers, None, '') of what the harness returned, or (None, the failure, what is wrong).

    Args:
        metric: its name; None: `combined_score`, else the mean of all numbers.
        own: the numbers that the user's own program has, once that is known. Others are compared with it, so it is the
            same number of them: the mean of what an evaluator returns for a failed program or after its first stage,
            a time among it, is none.
    """
    metrics = _mapping(_mapping(value).get("metrics"))
    name = metric or (COMBINED if COMBINED in metrics or COMBINED in own else None)
    wanted = [name] if name is not None else list(own) or list(numbers(metrics))
    if not wanted:
        told = f": {metrics!r:.{SHOWN}}" if metrics else ""
        return None, FailureKind.EVAL_ERROR, f"the evaluator returned no number{told}"
    lacking = next((one for one in wanted if one not in metrics), None)
    if lacking is not None:
        why = "" if metric else ", which the score of the initial program is made of"
        said, known = metrics.get("error"), ", ".join(map(str, metrics)) or "none"
        told = f": {shorten(said, ERROR_CHARS)}" if isinstance(said, str) and said.strip() else f"; it has {known}"
        return None, FailureKind.EVAL_ERROR, f"the evaluator returned no metric {lacking!r}{why}{told}"
    found = {one: number(metrics[one]) for one in wanted}
    odd = next((one for one, value in found.items() if value is None), None)
    if odd is not None:
        return None, *_no_score(odd, metrics[odd])
    mean = finite(sum(value for value in found.values() if value is not None) / len(found))
    if mean is None:
        return None, FailureKind.NON_FINITE, f"the mean of {', '.join(found)} is not finite"
    return mean, None, ""


def _no_score(name: str, raw: Any) -> tuple[FailureKind, str]:
    """Why a metric's value is no score. Numbers that are not finite come as their texts (`utils.clean_data`)."""
    try:
        is_number = isinstance(raw, str) and not math.isfinite(float(raw))
    except ValueError:
        is_number = False
    if is_number:
        return FailureKind.NON_FINITE, f"metric {name!r} is not finite: {raw!r}"
    kind = "text" if isinstance(raw, str) else type(raw).__name__
    return (
        FailureKind.EVAL_ERROR,
        f"metric {name!r} is {raw!r:.{SHOWN}}, a {kind}; the evaluator has to return a number",
    )


def mean_of(metrics: Mapping[str, Any], metric: str | None) -> list[str]:
    """The metrics whose mean steers, because none of them was named and there is no `combined_score`; else []."""
    names = [] if metric or COMBINED in metrics else list(numbers(metrics))
    return names if len(names) > 1 else []


def error_that_steers(metrics: Mapping[str, Any], metric: str | None) -> str:
    """The metric that steers without having been named, where it (of several, each of them) is called like an error."""
    names = [] if metric or COMBINED in metrics else list(numbers(metrics))
    return ", ".join(names) if all(map(is_error, names)) else ""


def numbers(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Those of the metrics that are numbers and may steer."""
    told = {key: number(raw) for key, raw in metrics.items() if key not in ("error", "stage")}
    return {key: found for key, found in told.items() if found is not None}


def number(raw: Any) -> float | None:
    """A finite number, or None."""
    return finite(raw) if isinstance(raw, int | float) else None


def texts(artifacts: Any) -> dict[str, str]:
    """Artifacts as short texts for the next prompt: of long ones both ends, since an error's cause stands last."""
    if not isinstance(artifacts, Mapping):
        return {}
    return {str(k)[:80]: shorten(str(v), ARTIFACT_CHARS) for k, v in list(artifacts.items())[:MOST_ARTIFACTS]}


def _mapping(raw: Any) -> dict[str, Any]:
    """What the evaluator's process sent, where it has the form it should have; else {}."""
    return raw if isinstance(raw, dict) else {}
