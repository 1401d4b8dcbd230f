"""What both ends of a ticket know: its name, its limits, and the answer to a wrong one. Imports nothing heavy."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from core.state.question import is_question

LONGEST_CALL = 25.0
"""Seconds that one call may wait; who wants to wait longer calls again."""
MOST_CHECKS = 5
"""Of one ticket."""


def split_ticket(ticket: str) -> tuple[str, str]:
    """(node id, token) of a ticket as writers hold it; by MCP it stands behind the run's name and a slash."""
    node_id, _, token = ticket.rpartition("/")[2].partition(".")
    return node_id, token


def ticket_name(node_id: str, token: str) -> str:
    """The ticket as its writer holds it."""
    return f"{node_id}.{token}"


def hash_of(token: str) -> str:
    """What the store keeps of a token."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


VERDICT: dict[str, Any] = {
    "state": "", "node_id": None, "metric": None, "metric_source": None, "metrics": {}, "cases": {}, "failure": None,
    "message": "", "warnings": [], "improved": False, "best": None, "output_tail": "", "budget": None,
    "journal_head": None,
}  # fmt: skip
"""What every answer about a ticket holds, whatever is known of it: of one that was refused, `metric` is None."""


def budget_left(steps: int | None, usd: float | None, seconds: float | None) -> dict[str, Any]:
    """What a run may still use; None where nothing limits it."""
    return {
        "steps_left": None if steps is None else max(0, steps),
        "usd_left": None if usd is None else max(0.0, usd),
        "seconds_left": None if seconds is None else round(seconds, 1),
    }


def refused(message: str, following: str = "ask") -> dict[str, Any]:
    """The answer to a request that names the wrong ticket or holds the wrong things: nothing was changed.

    Args:
        following: `tell` where the ticket is still this writer's.
    """
    return {"state": "refused", "message": message, "next": following}


def whole(found: dict[str, Any], *, is_over: bool = False) -> dict[str, Any]:
    """An answer with all its fields, which says in `over` whether the run hands out nothing more.

    Of a run that has ended nobody is sent to ask for a ticket, whatever was wrong with the one that came.
    """
    if "state" in found:
        found = {**VERDICT, **found}
    if is_over and found.get("next") == "ask":
        found = {**found, "next": "stop"}
    return {**found, "over": found["next"] == "stop"} if "next" in found else found


TAKEN = {"state": "committed", "message": "the answer is taken"}
"""What became of the answer to a question."""
KEPT = "; what you told is kept, and is judged when the run goes on"
"""Of an ended run, about a program that was told and has no verdict."""
LATE = {
    "tell": "yours was not taken", "check": "nothing was checked", "give_up": "nothing was given up",
    "ask": "it is not handed out again",
}  # fmt: skip
"""Verb → what comes of it for a ticket that was told already."""


def answered_before(found: dict[str, Any], node_id: str, verb: str) -> dict[str, Any]:
    """The answer to who comes with a ticket that was told already: what became of its program, named as that.

    Args:
        verb: one of `LATE`; of `tell` only with another program than the first.
    """
    first, said = "this question was answered already, and the first answer is taken", ""
    if not is_question(node_id):
        first = f"this ticket was answered already: its first program is node {node_id} and {_became(found)}"
        said = f"; of the first program: {found['message']}" if found.get("message") else ""
    message = f"{first}; {LATE[verb]}{said}"
    return {**found, "answered_before": True, "improved": False, "message": message, "warnings": [message]}


def _became(found: dict[str, Any]) -> str:
    """What became of a program, as half a sentence."""
    if found.get("failure"):
        return f"failed ({found['failure']})"
    if found.get("metric") is not None:
        return f"scored {found['metric']:.9g}"
    return "is a duplicate" if found.get("state") == "duplicate" else "has no verdict yet"


def warnings_of(metric: float | None, message: str) -> list[str]:
    """What a program that has a score must still be told."""
    return [message] if metric is not None and message else []
