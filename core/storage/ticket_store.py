"""TicketStore: proposals that are leased to writers outside of the run's process, and what they handed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from core.events import Event, TicketClosed, TicketLeased
from core.storage.database import Database, Values
from core.storage.event_writer import EventWriter
from core.storage.rows import event_from_row, stored_why
from core.storage.unreadable import reads_store

Gone = Literal["given_up", "expired"]
GONE: tuple[Gone, ...] = get_args(Gone)
"""States of tickets whose proposal is withdrawn."""
WITHDRAWN = "SELECT node_id FROM tickets WHERE state IN ('given_up', 'expired')"
"""Their proposals."""
NOBODYS = ""
"""Token hash of what was withdrawn before anybody had asked for it: no lease."""
DROPPED = f"SELECT node_id FROM tickets WHERE token_hash = '{NOBODYS}'"
"""Such proposals: what is asked for after that knows nothing of them."""
_COLUMNS = "node_id, token_hash, state, expires_at, told, checks"


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
        row = (ticket.node_id, ticket.token_hash, ticket.state, ticket.expires_at, "", 0)
        self._change("lease", f"INSERT INTO tickets ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", row, [_leased(ticket)])

    def pass_on(self, ticket: Ticket) -> None:
        """An open ticket has another holder; with another token, it is no longer that of the first one."""
        values = (ticket.token_hash, ticket.expires_at, ticket.node_id)
        query = "UPDATE tickets SET token_hash = ?, expires_at = ? WHERE node_id = ?"
        self._change("pass_on", query, values, [_leased(ticket)])

    def tell_ticket(self, node_id: str, reply: str) -> None:
        """Keep what was handed in: from here on it cannot be lost."""

        def facts() -> None:
            with self.db.transaction() as connection:
                values = self.db.texts.put(reply), node_id
                connection.execute("UPDATE tickets SET state = 'told', told = ? WHERE node_id = ?", values)

        self._write("tell", facts)

    def close_ticket(self, node_id: str, state: Gone) -> None:
        """The proposal is withdrawn, or the question not answered."""
        closed = TicketClosed(node_id=node_id, state=state)
        self._change("close", "UPDATE tickets SET state = ? WHERE node_id = ?", (state, node_id), [closed])

    def withdraw(self, node_ids: Sequence[str]) -> None:
        """Proposals that nobody has begun and for which no step is left: each as if its writer had given it up."""
        rows = [(node_id, NOBODYS, "given_up", 0.0, "", 0) for node_id in node_ids]

        def facts() -> None:
            with self.db.transaction() as connection:
                connection.executemany(f"INSERT INTO tickets ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)", rows)

        self._write("withdraw", facts, [TicketClosed(node_id=node_id, state="given_up") for node_id in node_ids])

    def count_check(self, node_id: str) -> None:
        """One `check` more."""
        self._change("check", "UPDATE tickets SET checks = checks + 1 WHERE node_id = ?", (node_id,))

    @reads_store
    def tickets(self) -> list[Ticket]:
        """All leases."""
        return stored_tickets(self.db)

    @reads_store
    def told(self, node_id: str) -> str:
        """What was handed in for a ticket, as a reply; '' before."""
        stored = self.db.value("SELECT told FROM tickets WHERE node_id = ?", (node_id,))
        return self.db.texts.get(stored) if stored else ""

    @reads_store
    def why_of(self, node_id: str) -> dict[str, Any]:
        """What the policy said of its choice; {} for what it did not propose."""
        return stored_why(self.db, node_id)

    def _change(self, kind: str, statement: str, values: Values, events: Sequence[Event] = ()) -> None:
        def facts() -> None:
            with self.db.transaction() as connection:
                connection.execute(statement, values)

        self._write(kind, facts, events)


def stored_tickets(db: Database) -> list[Ticket]:
    """All leases of a store, for its writer and for readers."""
    with db.transaction():
        rows = db.rows(f"SELECT {_COLUMNS} FROM tickets WHERE token_hash != ?", (NOBODYS,))
        leased = db.rows("SELECT * FROM events WHERE type = 'ticket.leased' ORDER BY seq")
    known = {event.node_id: event for row in leased if isinstance(event := event_from_row(row), TicketLeased)}
    return [
        Ticket(**{**row, "told": db.texts.get(row["told"])}, **_lease(known.get(row["node_id"]))) for row in rows
    ]  # fmt: skip


def _leased(ticket: Ticket) -> TicketLeased:
    return TicketLeased(node_id=ticket.node_id, holder=ticket.holder, expires_at=ticket.expires_at)


def _lease(event: TicketLeased | None) -> dict[str, Any]:
    return {"holder": event.holder, "since": event.at.timestamp()} if event else {}
