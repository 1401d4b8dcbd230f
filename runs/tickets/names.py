"""What both ends of a ticket know: its name, its limits, and the answer to a wrong one. Imports nothing heavy."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

LONGEST_CALL = 25.0
"""Seconds that one call may wait; who wants to wait longer calls again."""
MOST_CHECKS = 5
"""Of one ticket."""


def split_ticket(ticket: str) -> tuple[str, str]:
    """(node id, token) of a ticket as writers hold it."""
    node_id, _, token = ticket.partition(".")
    return node_id, token


def ticket_name(node_id: str, token: str) -> str:
    """The ticket as its writer holds it."""
    return f"{node_id}.{token}"


def hash_of(token: str) -> str:
    """What the store keeps of a token."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def refused(message: str, following: str = "ask") -> dict[str, Any]:
    """The answer to a request that names the wrong ticket or holds the wrong things: nothing was changed.

    Args:
        following: `tell` where the ticket is still this writer's.
    """
    return {"state": "refused", "message": message, "next": following}


def warnings_of(metric: float | None, message: str) -> list[str]:
    """What a program that has a score must still be told."""
    return [message] if metric is not None and message else []
