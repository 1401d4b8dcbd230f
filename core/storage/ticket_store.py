"""TicketStore: proposals that are leased to writers outside of the run's process, and what they handed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, update

from core.storage.database import Database
from core.storage.event_writer import EventWriter
from core.storage.models import TASKS, TICKETS
from core.storage.unreadable import reads_store

GONE = ("given_up", "expired")
"""States of tickets whose proposal is withdrawn."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """One lease, as stored."""

    node_id: str
    token_hash: str
    """SHA-256 of the token that its writer holds."""
    state: str
    """`open`, `told`, `given_up` or `expired`."""
    expires_at: float
    told: str
    """What was handed in, as a reply; '' before."""
    checks: int


class TicketStore(EventWriter):
    """Each change is one transaction, so that a kill leaves a ticket before it or after it."""

    def lease(self, node_id: str, token_hash: str, expires_at: float) -> None:
        """Give an open proposal to a writer."""
        row = {"node_id": node_id, "token_hash": token_hash, "state": "open", "expires_at": expires_at,
               "told": "", "checks": 0}  # fmt: skip
        self._change("lease", TICKETS.insert().values(row))

    def tell_ticket(self, node_id: str, reply: str) -> None:
        """Keep what was handed in: from here on it cannot be lost."""

        def facts() -> None:
            with self.db.transaction() as connection:
                values = {"state": "told", "told": self.db.put_text(reply)}
                connection.execute(update(TICKETS).where(TICKETS.c.node_id == node_id).values(values))

        self._write("tell", facts)

    def close_ticket(self, node_id: str, state: str) -> None:
        """`given_up` or `expired`: the proposal is withdrawn."""
        self._change("close", update(TICKETS).where(TICKETS.c.node_id == node_id).values(state=state))

    def count_check(self, node_id: str) -> None:
        """One `check` more."""
        query = update(TICKETS).where(TICKETS.c.node_id == node_id).values(checks=TICKETS.c.checks + 1)
        self._change("check", query)

    @reads_store
    def tickets(self) -> list[Ticket]:
        """All leases."""
        return stored_tickets(self.db)

    @reads_store
    def why_of(self, node_id: str) -> dict[str, Any]:
        """What the policy said of its choice; {} for what it did not propose."""
        with self.db.transaction() as connection:
            found = connection.execute(select(TASKS.c.why).where(TASKS.c.node_id == node_id)).scalar()
        return dict(found or {})

    def _change(self, kind: str, statement: Any) -> None:
        def facts() -> None:
            with self.db.transaction() as connection:
                connection.execute(statement)

        self._write(kind, facts)


def stored_tickets(db: Database) -> list[Ticket]:
    """All leases of a store, for its writer and for readers."""
    with db.transaction() as connection:
        rows = connection.execute(select(TICKETS)).mappings().all()
    return [Ticket(**{**row, "told": db.get_text(row["told"])}) for row in rows]
