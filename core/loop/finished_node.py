"""From an attempt that has its verdict to the node that is committed."""

from __future__ import annotations

from typing import Any

from core.contracts import Evaluation
from core.loop.attempt import Attempt, RunContext, Usage
from core.state.failure import FailureKind
from core.state.findings import Findings
from core.state.node import Node
from utils.direction import as_score


def finished_node(attempt: Attempt, run_context: RunContext, usage: Usage, *, reviewed: bool = True) -> Node:
    """The node as it goes into the journal: what was written, and what judging and reviewing it told.

    Args:
        reviewed: False for the reviewer's own eyes: where its reading is the score, none is missing yet.
    """
    assert attempt.node is not None and attempt.verdict is not None
    written, verdict, review = attempt.node, attempt.verdict, attempt.review
    read = review.metric if review is not None and review.metric is not None else verdict.claimed
    claimed = as_score(read)
    is_own = verdict.duplicate_of is None and not verdict.nothing_left
    return written.model_copy(
        update={
            **_findings(verdict),
            "metadata": {**written.metadata, **verdict.metadata, **({"looks": usage.looks} if usage.looks else {})},
            "code": verdict.code if verdict.code is not None else written.code,
            "exec_time": round(verdict.seconds, 6),
            "claimed_metric": claimed,
            "analysis": review.summary if review else "",
            "review": review,
            "review_error": attempt.review_error,
            "is_valid": is_own,
            "stages": dict(attempt.seconds),
            "round": attempt.task.round,
            "refusal": attempt.context.refusal,
            "attempts": (attempt.repaired_from,) if attempt.repaired_from else (),
            "writer": written.writer or usage.writer,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "cost_usd": usage.cost_usd,
            **_score(attempt, run_context, claimed, reviewed),
        }
    )


def _findings(verdict: Evaluation) -> dict[str, Any]:
    """What the verdict has to say; where it says nothing, the writer's word stands."""
    said = {name: getattr(verdict, name) for name in Findings.model_fields}
    return {name: value for name, value in said.items() if value not in (None, "", (), {})}


def _message(node: Node, verdict: Evaluation) -> str:
    """What the verdict says, and what was done with the reply before: it may be why the program failed."""
    if node.failure is not None or node.message in verdict.message:
        return verdict.message or node.message
    return "; ".join(filter(None, (verdict.message, node.message)))


def _score(attempt: Attempt, run_context: RunContext, claimed: float | None, reviewed: bool) -> dict[str, Any]:
    """Metric, who vouches for it, failure and message."""
    assert attempt.node is not None and attempt.verdict is not None
    verdict = attempt.verdict
    metric, source, failure = as_score(verdict.metric), verdict.source, verdict.failure
    message = _message(attempt.node, verdict)
    if metric is None and verdict.metric is not None:
        failure = FailureKind.NON_FINITE
        message = message or f"the score is {verdict.metric}"
    is_program = verdict.duplicate_of is None and not verdict.nothing_left
    if run_context.claims_only and failure is None and is_program:
        metric, source = claimed, "claimed"
        if reviewed and (attempt.review is None or attempt.review.is_bug or metric is None):
            failure = FailureKind.EVAL_ERROR
            message = message or "the reviewer found no metric in the output"
    elif source is None:
        source = "verified" if run_context.isolated else "unisolated"
    return {
        "metric_value": metric,
        "metric_source": source if metric is not None else None,
        "failure": failure,
        "is_buggy": failure is not None,
        "message": message,
    }
