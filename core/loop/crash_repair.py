"""A program that crashed or ran out of time goes back to its writer at once, in the same step: one turn, with the
traceback, or with how far it came."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.contracts import Agent, AgentContext, Query
from core.loop.attempt import Attempt
from core.state.failed_attempt import REPAIRS_FROM, FailedAttempt
from core.state.failure import FailureKind
from core.state.node import Node
from utils.errors import BudgetExhausted, ReplyError, UnrecordedError

OUTPUT_KEPT = 4_000
"""Characters of the first program's output that its writer sees and its node keeps: a replay has no more to show."""

_REPAIRABLE = frozenset(
    {
        FailureKind.SYNTAX, FailureKind.IMPORT_BLOCKED, FailureKind.SIGNATURE, FailureKind.RUNTIME, FailureKind.EXIT,
        FailureKind.NO_SUBMISSION, FailureKind.BAD_SUBMISSION, FailureKind.NON_FINITE, FailureKind.EVAL_ERROR,
        FailureKind.TIMEOUT, FailureKind.CPU,
    }
)  # fmt: skip
"""What a look at the traceback can mend, and what too slow a program can do less of. What ran out of memory needs
another idea, not a repair."""


def may_be_repaired(attempt: Attempt) -> bool:
    """True for a program that failed by itself, and has not been repaired yet."""
    verdict, node = attempt.verdict, attempt.node
    return (
        verdict is not None
        and verdict.failure in _REPAIRABLE
        and node is not None
        and bool(node.code)
        and not attempt.repaired_from
        and attempt.task.operator != "tune"
    )


def repaired(attempt: Attempt, agent: Agent, failed: Node) -> bool:
    """Ask once more, with the failed program in the parent's place; True if another program came.

    It stands in the attempt then, without a verdict, and the first one is kept beside it. A call that cannot be paid
    for or read, or that no record has, leaves the attempt as it was.

    Args:
        failed: the attempt as a node, with its failure.
    """
    failed = failed.model_copy(update={"term_out": failed.term_out[-OUTPUT_KEPT:]})
    context = _context(attempt.context, failed)
    try:
        result = agent.code(context, agent.reply(context, agent.prompt(context)))
    except (BudgetExhausted, ReplyError, UnrecordedError):
        return False
    found = result.node
    if not result.success or found is None or found.code == failed.code:
        return False
    assert attempt.node is not None and failed.failure is not None
    attempt.repaired_from = FailedAttempt(
        code=failed.code, failure=failed.failure, message=failed.message, term_out=failed.term_out, repair=found.plan
    )
    attempt.first_node = attempt.node
    attempt.node = attempt.node.model_copy(update={"code": found.code, "genes": found.genes, "message": found.message})
    attempt.verdict = None
    return True


def _context(context: AgentContext, failed: Node) -> AgentContext:
    """That of a debug step on the failed program: the same memory, so that the prompt begins alike."""
    task = context.task.model_copy(update={"operator": "debug", "parent_ids": (failed.id,)})
    query = _numbered_later(context.query)
    return replace(context, task=task, parents=(failed,), grandparents=(), others=(), query=query, toolbox=None)


def _numbered_later(query: Query) -> Query:
    """The same query, its calls numbered from REPAIRS_FROM."""

    def ask(system_message: str | None, user_message: str | None, *, attempt: int = 0, **options: Any) -> str:
        return query(system_message, user_message, attempt=REPAIRS_FROM + attempt, **options)

    return ask
