"""From an attempt that has its verdict to the node that is committed."""

from __future__ import annotations

import math
from typing import Any

from core.loop.attempt import Attempt, RunContext, Usage
from core.state.failure import FailureKind
from core.state.node import Node


def finished_node(attempt: Attempt, run_context: RunContext, usage: Usage) -> Node:
    """The node as it goes into the journal: what was written, and what judging and reviewing it told."""
    assert attempt.node is not None and attempt.verdict is not None
    verdict, review = attempt.verdict, attempt.review
    metric, source, failure = verdict.metric, verdict.source, verdict.failure
    message = verdict.message
    claimed = review.metric if review else None
    if metric is not None and not math.isfinite(metric):
        metric, failure = None, FailureKind.NON_FINITE
        message = message or f"the score is {verdict.metric}"
    if run_context.claims_only and failure is None:
        metric = claimed if claimed is not None and math.isfinite(claimed) else None
        source = "claimed" if metric is not None else None
        if review is None or review.is_bug or metric is None:
            failure = FailureKind.EVAL_ERROR
            message = message or "the reviewer found no metric in the output"
    elif metric is not None and source is None:
        source = "verified" if run_context.isolated else "unisolated"
    return attempt.node.model_copy(
        update={
            "code": verdict.code if verdict.code is not None else attempt.node.code,
            "term_out": verdict.term_out,
            "exec_time": verdict.seconds,
            "exc_type": verdict.exc_type,
            "exc_info": verdict.exc_info,
            "metric_value": None if metric is None else float(metric),
            "metric_source": source if metric is not None else None,
            "claimed_metric": claimed if claimed is not None and math.isfinite(claimed) else None,
            "analysis": review.summary if review else "",
            "failure": failure,
            "is_buggy": failure is not None,
            "is_valid": verdict.duplicate_of is None,
            "signature": verdict.signature,
            "writer": attempt.node.writer or usage.writer,
            "metadata": _metadata(attempt, message, usage),
        }
    )


def _metadata(attempt: Attempt, message: str, usage: Usage) -> dict[str, Any]:
    assert attempt.node is not None and attempt.verdict is not None
    verdict, review = attempt.verdict, attempt.review
    extra: dict[str, Any] = {**attempt.node.metadata, **verdict.metadata, "stages": dict(attempt.seconds)}
    optional = {
        "message": message,
        "duplicate_of": verdict.duplicate_of,
        "interval": list(verdict.interval) if verdict.interval else None,
        "artifacts": verdict.artifacts,
        "files": verdict.files,
        "round": attempt.task.round,
        "refusal": attempt.context.refusal,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost_usd": usage.cost_usd,
    }
    extra.update({name: value for name, value in optional.items() if value not in (None, "", {}, [])})
    if review is not None:
        extra["review"] = review.model_dump(mode="json", exclude={"summary"})
    return extra
