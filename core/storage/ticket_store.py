"""TicketStore: proposals that are leased to writers outside of the run's process, and what they handed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sqlalchemy import select, update

from core.events import Event, TicketClosed, TicketLeased
from core.storage.database import Database
from core.storage.event_writer import EventWriter
from core.storage.models import EVENTS, TASKS, TICKETS
from core.storage.rows import event_from_row, why_of
from core.storage.unreadable import reads_store

Gone = Literal["given_up", "expired"]
GONE: tuple[Gone, ...] = get_args(Gone)
"""States of tickets whose proposal is withdrawn."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """One lease, as stored."""

    node_id: str
    """The proposal's node; for a question its own name (`core.state.question`)."""
    token_hash: str
    """SHA-256 of the token that its writer holds."""
    state: str
    """`open`, `told`, `given_up` or `expired`."""
    expires_at: float
    told: str
    """What was handed in, as a reply; '' before."""
    checks: int
    holder: str = ""
    """Who asked, in its own words; '' where nobody said. Untrusted text."""
    since: float | None = None
    """Seconds since the epoch at which it was leased; None where the store is too old to tell."""


class TicketStore(EventWriter):
    """Each change is one transaction, so that a kill leaves a ticket before it or after it."""

    def lease(self, ticket: Ticket) -> None:
        """Give an open proposal to a writer."""
        row = {"node_id": ticket.node_id, "token_hash": ticket.token_hash, "state": ticket.state,
               "expires_at": ticket.expires_at, "told": "", "checks": 0}  # fmt: skip
        self._change("lease", TICKETS.insert().values(row), [_leased(ticket)])

    def pass_on(self, ticket: Ticket) -> None:
        """An open ticket has another holder; with another token, it is no longer that of the first one."""
        values = {"token_hash": ticket.token_hash, "expires_at": ticket.expires_at}
        query = update(TICKETS).where(TICKETS.c.node_id == ticket.node_id).values(values)
        self._change("pass_on", query, [_leased(ticket)])

    def tell_ticket(self, node_id: str, reply: str) -> None:
        """Keep what was handed in: from here on it cannot be lost."""

        def facts() -> None:
            with self.db.transaction() as connection:
                values = {"state": "told", "told": self.db.put_text(reply)}
                connection.execute(update(TICKETS).where(TICKETS.c.node_id == node_id).values(values))

        self._write("tell", facts)

    def close_ticket(self, node_id: str, state: Gone) -> None:
        """The proposal is withdrawn, or the question not answered."""
        closed = TicketClosed(node_id=node_id, state=state)
        self._change("close", update(TICKETS).where(TICKETS.c.node_id == node_id).values(state=state), [closed])

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
        return why_of(self.db, found)

    def _change(self, kind: str, statement: Any, events: Sequence[Event] = ()) -> None:
        def facts() -> None:
            with self.db.transaction() as connection:
                connection.execute(statement)

        self._write(kind, facts, events)


def stored_tickets(db: Database) -> list[Ticket]:
    """All leases of a store, for its writer and for readers."""
    with db.transaction() as connection:
        rows = connection.execute(select(TICKETS)).mappings().all()
        leases = select(EVENTS).where(EVENTS.c.type == "ticket.leased").order_by(EVENTS.c.seq)
        leased = connection.execute(leases).mappings().all()
    known = {event.node_id: event for row in leased if isinstance(event := event_from_row(row), TicketLeased)}
    return [
        Ticket(**{**row, "told": db.get_text(row["told"])}, **_lease(known.get(row["node_id"]))) for row in rows
    ]  # fmt: skip


def _leased(ticket: Ticket) -> TicketLeased:
    return TicketLeased(node_id=ticket.node_id, holder=ticket.holder, expires_at=ticket.expires_at)


def _lease(event: TicketLeased | None) -> dict[str, Any]:
    return {"holder": event.holder, "since": event.at.timestamp()} if event else {}
