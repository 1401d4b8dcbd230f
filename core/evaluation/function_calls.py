"""Calls a searched function on prepared arguments, in the sandbox, as a job for any machine."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from core.contracts import JobContext, Limits, Session, SessionFailure
from core.evaluation.bounded_calls import BoundedCalls
from utils.errors import SandboxError

ANSWER_KB = 16 << 10
"""What the answers of one frame may take: numbers and lists of numbers."""
CALLS_A_FRAME = 5_000
"""Calls that cross to the sandbox together: enough that a frame's cost is nothing, few enough that it stays small."""


def answer_calls(payload: dict[str, Any], context: JobContext) -> dict[str, Any]:
    """Job entry.

    Payload: `code`, `function` (its name), `calls` (lists of arguments), `driver` (source that is loaded before the
    program, ''), `limits` (`seconds` is for all calls together), `seed`.

    Returns `{answers, output, seconds}`, an answer a call in their order, what the program printed and the time of all
    calls, or an ExecutionResult of how the program failed.
    """
    limits = Limits.model_validate(payload["limits"]).model_copy(update={"answer_kb": ANSWER_KB})
    session = context.sandbox.session(payload["code"], limits=limits, seed=payload["seed"], prelude=payload["driver"])
    began = time.monotonic()
    try:
        answers = _answers(session, payload["function"], payload["calls"], limits.seconds)
        seconds = time.monotonic() - began
        session.leave()
        context.leave()
        return {"answers": answers, "output": session.close().term_out, "seconds": seconds}
    except SessionFailure as failure:
        return failure.result.model_dump(mode="json")
    finally:
        with suppress(SandboxError):  # it was told before; and what else happened is not to be hidden by it
            session.close()


def _answers(session: Session, function: str, calls: list[Any], seconds: float) -> list[Any]:
    bounded, answers = BoundedCalls(session, seconds), []
    for start in range(0, len(calls), CALLS_A_FRAME):
        answers += bounded.call_many(function, calls[start : start + CALLS_A_FRAME])
    return answers
