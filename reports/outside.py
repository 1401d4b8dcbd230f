"""Who wrote from outside: tickets that were handed out, and the sessions of coding agents."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select

from core.storage.models import CALLS
from core.storage.reader import RunReader
from core.storage.ticket_store import stored_tickets

_NAMES = ("provider", "model")
SESSION = "session"
"""Role of what an agent asked its models within one session."""


def tickets(reader: RunReader) -> list[dict[str, Any]]:
    """Each lease: its proposal, its state, the checks that it used. No token: the store has none."""
    return [
        {"node_id": one.node_id, "state": one.state, "expires_at": one.expires_at, "checks": one.checks,
         "characters": len(one.told)} for one in stored_tickets(reader.db)
    ]  # fmt: skip


def sessions(reader: RunReader) -> list[dict[str, Any]]:
    """Each session of an agent: its proposal, how many replies of models it took, and what they came to."""
    turns = (
        select(CALLS.c.node_id, func.count().label("turns"), func.sum(CALLS.c.seconds).label("model_seconds"))
        .where(CALLS.c.role == SESSION)
        .group_by(CALLS.c.node_id)
        .subquery()
    )
    query = (
        select(
            CALLS.c.node_id, CALLS.c.provider, CALLS.c.model, turns.c.turns, turns.c.model_seconds,
            CALLS.c.prompt_tokens, CALLS.c.completion_tokens, CALLS.c.cost_usd, CALLS.c.seconds,
        )
        .join(turns, turns.c.node_id == CALLS.c.node_id)
        .where(CALLS.c.role == "code")
        .order_by(CALLS.c.id)
    )  # fmt: skip
    with reader.db.transaction() as connection:
        rows = connection.execute(query).mappings().all()
    return [
        {"writer": f"{row['provider']}/{row['model']}", **{key: row[key] for key in row if key not in _NAMES}}
        for row in rows
    ]
