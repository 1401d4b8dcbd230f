"""Tickets of a run: hands its open proposals to writers outside (`ask`) and takes in what they wrote (`tell`).

The search asks this queue where it would ask a model, and waits there. What is told is stored before anybody hears
of it; so a kill of either side loses nothing, and telling twice is the same as telling once.
"""

from __future__ import annotations

import hmac
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf

from core.backend.exchange import Reply, Request
from core.events import Event, NodeCommitted, NodeProposed
from core.state.question import is_question, node_of
from core.state.task import Place
from core.storage.repository import RunStore
from core.storage.ticket_store import GONE, Gone, Ticket
from runs.tickets.names import LONGEST_CALL, MOST_CHECKS, hash_of
from utils.errors import BudgetExhausted, Interrupted, RunStopped, TicketGone

ENDED = "the run has ended"
STOPPED = "the run was stopped; whoever asks next goes on with it"
_LOOK = 0.1
"""Seconds between two looks at what nobody tells of: the clock, and signals to stop."""

_NOBODY_COMES = 1.0
"""Seconds that a proposal may wait for a writer to ask before those who wait for verdicts behind it are told."""


@dataclass(frozen=True, slots=True)
class Stops:
    """What ends the waiting of the search, all its tickets staying open."""

    finish: threading.Event
    """The user wants the run to end in good order; set by the queue too, when nobody has come for long."""
    now: threading.Event
    seconds_left: Callable[[], float]
    """Of the run's budget."""
    idle: float | None = None
    """Seconds without a call after which the process ends; the run can be taken up again."""
    limit: Callable[[], str] = lambda: "budget.seconds"
    """→ the key of the budget that those seconds are of."""


class TicketQueue:
    """Thread-safe: the search's threads wait in `reply`, the server's threads call the other methods.

    Args:
        seconds: how long a ticket is good.
        clock: seconds since the epoch, which writers are told; it may be set.
        steady: seconds in which this process ran: by these a ticket expires while it lives, and it ends where nobody
            comes.
    """

    def __init__(
        self,
        store: RunStore,
        stops: Stops,
        seconds: float,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._steady = steady
        self._store = store
        self._stops = stops
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        """Told when a proposal waits, and when a ticket is told or withdrawn."""
        self._judged = threading.Condition()
        """Told when a node is committed; its lock is of its own, since the store tells of it from inside its own."""
        self._waiting: dict[str, Request] = {}
        """Proposals without a reply, as the search's threads came with them."""
        self._since: dict[str, float] = {}
        """Since when each of them waits, by a clock that only goes forward."""
        self._places: dict[str, Place] = {task.node_id: (task.round, task.slot) for task in store.open_tasks()}
        """Where a proposal, or a repair, stands: verdicts come in this order, so the first must be handed out first."""
        self.waits_for: Callable[[Place, Place], bool] = lambda place, other: other < place
        """Whether the verdict on what stands at the first place waits for the writer of what stands at the second."""
        self._tickets = {ticket.node_id: replace(ticket, told="") for ticket in store.tickets()}
        """All of the run, without what was told: that lies in the store."""
        self._until = {ticket.node_id: steady() + _left(ticket, clock()) for ticket in self._tickets.values()}
        """Until when each of them is good, by `steady`."""
        self._committed: dict[str, bool] = {event.node_id: event.is_best for event in store.committed_events()}
        """Nodes with a verdict, and whether each was the best."""
        self._over = False
        self.ended = ""
        """Why nothing is handed out any more, as a sentence; '' while the search goes on."""
        self.broke_off = False
        """True if that is a fault."""
        self._called = steady()

    # ------------------------------------------------------------ the search's side

    def reply(self, node_id: str, request: Request) -> Reply:
        """Offer a proposal, or a question about a node, and wait for what is told.

        Raises:
            TicketGone: it was given up, or it expired.
            BudgetExhausted, Interrupted: the run ends; the ticket stays open.
            StoreError: the run's folder was removed or moved, so that nobody can come any more.
        """
        with self._changed:
            self._stand(node_id, request)
            self._waiting[node_id] = request
            self._since[node_id] = time.monotonic()
            self._changed.notify_all()
        try:
            while True:
                with self._lock:
                    ticket = self._expired(self._tickets.get(node_id))
                if ticket is not None and ticket.state == "told":
                    return Reply(text=self._store.told(node_id), finish_reason="stop")
                if ticket is not None and ticket.state in GONE:
                    raise TicketGone(f"ticket of {node_id}: {ticket.state}")
                self._check_stops()
                self._store.db.check_place()
                with self._changed:
                    if self._tickets.get(node_id) is ticket:
                        self._changed.wait(_LOOK)
        finally:
            with self._lock:
                self._waiting.pop(node_id, None)
                self._since.pop(node_id, None)

    def _stand(self, name: str, request: Request) -> None:
        """A repair, which is no proposal of the policy, stands where the refused program stands that it begins with."""
        parents = (str(parent.get("id")) for parent in (request.context or {}).get("parents") or ())
        place = next((self._places[parent] for parent in parents if parent in self._places), None)
        if place is not None and not is_question(name):
            self._places.setdefault(name, place)

    def _check_stops(self) -> None:
        stops = self._stops
        if stops.now.is_set():
            raise RunStopped("stopped while a writer outside was waited for")
        if stops.idle is not None and self._steady() - self._called > stops.idle:
            stops.finish.set()
        if stops.finish.is_set():
            raise Interrupted("interrupted")
        if stops.seconds_left() <= 0:
            raise BudgetExhausted(f"{stops.limit()} is used up")

    def emit(self, event: Event) -> None:
        """Implements `EventSink`. Called inside the store's lock; takes none that is held while the store is asked."""
        if isinstance(event, NodeProposed):
            self._places[event.node_id] = event.round, event.slot
        elif isinstance(event, NodeCommitted):
            self._places.pop(event.node_id, None)
            with self._judged:
                self._committed[event.node_id] = event.is_best
                self._judged.notify_all()

    def end(self, why: str = ENDED, *, broke_off: bool = False) -> None:
        """The search is over: nothing more is handed out, and nobody waits any longer. Only the first reason counts."""
        if not self.ended:
            self.ended, self.broke_off = why, broke_off
        self._over = True
        for condition in (self._changed, self._judged):
            with condition:
                condition.notify_all()

    def close(self) -> None:
        """Let the process end in good order, as Ctrl-C does; every ticket stays open."""
        self._stops.finish.set()

    # ------------------------------------------------------------ the writers' side

    def ask(self, tokens: Sequence[str], seconds: float, holder: str = "") -> tuple[Ticket, Request, str] | None:
        """Lease a proposal; None if all are leased, or the run is over, for so long.

        Args:
            tokens: made by the writer; with the same one it gets the same ticket again, if its answer was lost. A new
                proposal is leased to the last one.
            holder: who asks, in its own words.
        """
        until = time.monotonic() + min(seconds, LONGEST_CALL)
        while True:
            self._called, now = self._steady(), time.monotonic()
            with self._changed:
                known = (self._known(token, holder) for token in tokens)
                found = next(filter(None, known), None) or self._leased(tokens[-1], holder)
                if found is not None or self._over or now >= until:
                    return found
                self._changed.wait(min(until - now, _LOOK))

    def take_over(self, node_id: str, token: str, holder: str) -> str:
        """Pass an open ticket on to who asks for it by its node; its state, or `refused`. The old token is void."""
        with self._lock:
            self._called = self._steady()
            ticket = self._expired(self._tickets.get(node_id))
            if ticket is None:
                return "refused"
            if ticket.state == "open" and not self._over:
                self._passed_on(replace(ticket, token_hash=hash_of(token)), holder)
            return "over" if ticket.state == "open" and self._over else ticket.state

    def _known(self, token: str, holder: str) -> tuple[Ticket, Request, str] | None:
        """The open ticket of that token; `holder` has it from here on, who may have got it from a dead process."""
        digest = hash_of(token)
        for node_id, request in self._waiting.items():
            ticket = self._tickets.get(node_id)
            if ticket is not None and ticket.state == "open" and hmac.compare_digest(ticket.token_hash, digest):
                return self._passed_on(ticket, holder), request, token
        return None

    def _passed_on(self, ticket: Ticket, holder: str) -> Ticket:
        """The ticket as its holder has it. A writer that was killed had it in vain: the time begins anew."""
        known = self._tickets[ticket.node_id]
        if (holder and holder != known.holder) or ticket.token_hash != known.token_hash:
            now = self._clock()
            ticket = replace(ticket, holder=holder, since=now, expires_at=now + self._seconds)
            self._store.pass_on(ticket)
            self._keep(ticket)
        return ticket

    def _leased(self, token: str, holder: str) -> tuple[Ticket, Request, str] | None:
        digest = hash_of(token)
        if any(hmac.compare_digest(ticket.token_hash, digest) for ticket in self._tickets.values()):
            return None  # its proposal is told or withdrawn: one token is one ticket
        for node_id in self._unclaimed():
            if not self._over:
                request, now = self._waiting[node_id], self._clock()
                ticket = Ticket(node_id, digest, "open", now + self._seconds, "", 0, holder, now)
                self._store.lease(ticket)
                self._keep(ticket)
                return ticket, request, token
        return None

    def _keep(self, ticket: Ticket) -> None:
        """Somebody has got it, and its time begins."""
        self._tickets[ticket.node_id] = ticket
        self._until[ticket.node_id] = self._steady() + self._seconds

    def _unclaimed(self) -> list[str]:
        """Proposals and questions that wait for a writer to ask, the first in the search's order first."""
        return sorted((name for name in self._waiting if name not in self._tickets), key=self._place)

    def _place(self, name: str) -> tuple[float, float]:
        return self._places.get(node_of(name), (inf, inf))

    def _needs(self, node_id: str, name: str) -> bool:
        """True if the verdict on a told program waits for what is to be written under `name`."""
        place, other = self._places.get(node_id), self._places.get(node_of(name))
        return name != node_id and place is not None and other is not None and self.waits_for(place, other)

    def is_held_up(self, node_id: str) -> bool:
        """True while its verdict waits for what nobody has asked for, and nobody comes: who told it may be the one."""
        now = time.monotonic()
        with self._lock:
            needed = (name for name in self._unclaimed() if self._needs(node_id, name))
            return any(now - self._since[name] > _NOBODY_COMES for name in needed)

    def holds_up(self, node_id: str) -> list[Ticket]:
        """The open tickets for which the verdict on a told program waits."""
        return [ticket for ticket in self.open_tickets() if self._needs(node_id, ticket.node_id)]

    def open_tickets(self) -> list[Ticket]:
        """Those that wait for their program, the oldest first."""
        with self._lock:
            found = [self._expired(ticket) for ticket in list(self._tickets.values())]
        return [ticket for ticket in found if ticket is not None and ticket.state == "open"]

    @property
    def is_between(self) -> bool:
        """True where every program that was told has its verdict and no proposal is there: the next one is about to
        come, or the end."""
        with self._lock:
            states = {name: ticket.state for name, ticket in self._tickets.items()}
            told = [name for name, state in states.items() if state == "told"]
            is_judged = all(node_of(name) in self._committed for name in told)
            return bool(told) and is_judged and not self._waiting and "open" not in states.values()

    def tell(self, node_id: str, token: str, reply: str) -> str:
        """Take in what was written; returns the ticket's state, or `refused`. Only the first time counts."""
        return self._change(node_id, token, lambda ticket: self._told(ticket, reply))

    def _told(self, ticket: Ticket, reply: str) -> Ticket:
        self._store.tell_ticket(ticket.node_id, reply)
        return replace(ticket, state="told")

    def told(self, node_id: str) -> str:
        """What was handed in for a ticket, as a reply; '' before."""
        return self._store.told(node_id)

    def holder(self, node_id: str) -> str:
        """Who has, or had, the ticket, in its own words."""
        with self._lock:
            ticket = self._tickets.get(node_id)
        return ticket.holder if ticket else ""

    def give_up(self, node_id: str, token: str | None) -> str:
        """Withdraw the proposal; returns the ticket's state, or `refused`. What is told already stays.

        Args:
            token: of its holder; None: whoever runs the search frees it, because its holder forgot it.
        """
        return self._change(node_id, token, lambda ticket: self._closed(ticket, "given_up"))

    def count_check(self, node_id: str, token: str) -> str:
        """One check more: the ticket's state, `refused`, or `spent` where all of its checks are used."""

        def counted(ticket: Ticket) -> Ticket:
            if ticket.checks >= MOST_CHECKS:
                return replace(ticket, checks=MOST_CHECKS + 1)
            self._store.count_check(ticket.node_id)
            return replace(ticket, checks=ticket.checks + 1)

        state = self._change(node_id, token, counted)
        return "spent" if state == "open" and self._tickets[node_id].checks > MOST_CHECKS else state

    def state(self, node_id: str, token: str) -> str:
        """The ticket's state, or `refused` for a foreign or unknown one."""
        return self._change(node_id, token, lambda ticket: ticket)

    def request_of(self, node_id: str) -> Request | None:
        """What is asked for a proposal that waits; None for any other."""
        with self._lock:
            return self._waiting.get(node_id)

    def asks_about(self, node_id: str) -> bool:
        """True while a question about the node waits for its answer; one that was told waits for nobody."""
        with self._lock:
            asked = (name for name in self._waiting if is_question(name) and node_of(name) == node_id)
            return any(name not in self._tickets or self._tickets[name].state == "open" for name in asked)

    def verdict(self, node_id: str, seconds: float) -> bool | None:
        """Whether a told ticket's program was the best; None if it has no verdict within `seconds`, or before the end.

        Nor while a question about it, or a proposal that it waits for, waits for a writer to ask: who told it may be
        the one.
        """
        until = time.monotonic() + min(seconds, LONGEST_CALL)
        while True:
            self._called, now = self._steady(), time.monotonic()
            # not under the lock below: the store's may be held by who waits for it
            is_asked = self.asks_about(node_id) or self.is_held_up(node_id)
            with self._judged:
                found = self._committed.get(node_id)
                if found is not None or self._over or now >= until or is_asked:
                    return found
                self._judged.wait(min(until - now, _LOOK))

    @property
    def is_over(self) -> bool:
        return self._over

    def _change(self, node_id: str, token: str | None, change: Callable[[Ticket], Ticket]) -> str:
        with self._lock:
            self._called = self._steady()
            ticket = self._expired(self._tickets.get(node_id))
            if ticket is None or not (token is None or hmac.compare_digest(ticket.token_hash, hash_of(token))):
                return "refused"
            if ticket.state == "open" and not self._over:
                ticket = self._tickets[node_id] = change(ticket)
                self._changed.notify_all()
            return "over" if ticket.state == "open" and self._over else ticket.state

    def _expired(self, ticket: Ticket | None) -> Ticket | None:
        if ticket is None or ticket.state != "open" or self._over:
            return ticket
        if self._steady() > self._until[ticket.node_id]:
            ticket = self._tickets[ticket.node_id] = self._closed(ticket, "expired")
        return ticket

    def _closed(self, ticket: Ticket, state: Gone) -> Ticket:
        self._store.close_ticket(ticket.node_id, state)
        self._places.pop(ticket.node_id, None)
        return replace(ticket, state=state)


def _left(ticket: Ticket, now: float) -> float:
    """Seconds that it is still good for whoever takes the run up: no more than it had, where the clock was set back."""
    whole = ticket.expires_at - (ticket.since if ticket.since is not None else now)
    return min(ticket.expires_at - now, whole)
