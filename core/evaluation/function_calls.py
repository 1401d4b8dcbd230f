"""Calls a searched function on prepared arguments, in the sandbox, as a job for any machine."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

from core.contracts import JobContext, Limits, Session, SessionFailure
from core.evaluation.bounded_calls import BoundedCalls
from core.state.failure import FailureKind
from utils.counts import counted
from utils.errors import SandboxError
from utils.time_share import is_worth_a_word, time_share

ANSWER_KB = 16 << 10
"""What the answers of one frame may take: numbers and lists of numbers."""
CALLS_A_FRAME = 5_000
"""Calls that cross to the sandbox together, at most: enough that a frame's cost is nothing, few enough that it stays
small."""
GROWTH, QUICK = 4, 0.01
"""The first frame is one call; each that takes less than this share of the time lets the next be so much larger."""


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
    """In frames of few calls where a call takes long: of a program that is stopped it is known how far it came."""
    bounded, answers, size = BoundedCalls(session, seconds), list[Any](), 1
    slow: list[str] = []
    try:
        while len(answers) < len(calls):
            began, first = time.monotonic(), len(answers) + 1
            answers += bounded.call_many(function, calls[first - 1 : first - 1 + size])
            took = time.monotonic() - began
            if is_worth_a_word(share := time_share(took, seconds)):
                slow.append(f"{_calls_named(first, len(answers))} {share}")
            if took < QUICK * seconds:
                size = min(GROWTH * size, CALLS_A_FRAME)
        return answers
    except SessionFailure as failure:
        if failure.result.failure not in (FailureKind.TIMEOUT, FailureKind.CPU) or len(calls) == 1:
            raise
        message = f"{failure.result.message}; {len(answers)} of {counted(len(calls), 'call')} had been answered"
        told = "".join(f"; {share}" for share in slow)
        raise SessionFailure(failure.result.model_copy(update={"message": message + told})) from failure


def _calls_named(first: int, last: int) -> str:
    return f"call {first}" if first == last else f"calls {first} to {last}"
