"""`search.schedule: pipeline`: no round waits for its slowest member, and still the same seed gives the same run.

Proposal i is asked for when commit i - lag is done, from the journal as it then stands, so what it may know is fixed by
counters and never by the clock. Candidates are written, run and reviewed in any order; commits stay in the order of the
proposals. A reply or a program that is slow holds nobody up while the lag allows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from typing import ClassVar

from core.loop.attempt import Attempt, RoundContext
from core.loop.plan import lag_of
from core.loop.search_state import SearchState
from core.state.journal import Journal
from core.state.program_index import Fingerprint
from core.state.task import Place
from utils.errors import BudgetExhausted, TicketGone


@dataclass(slots=True, eq=False)
class _Flight:
    """One attempt under way."""

    attempt: Attempt
    context: RoundContext
    before: Sequence[_Flight] = ()
    """Those that are committed before it and were under way when it started."""
    written: Event = field(default_factory=Event)
    """Set once its program is there, or once it is known that there will be none."""
    program: Fingerprint | None = None
    """Of the program, where it is one that may repeat another; None before it is written."""
    result: Future[list[Attempt]] | None = None

    def repeats(self, journal: Journal) -> bool:
        """True if a program before it is the same, as far as is known now. What is committed stands before it."""
        own = self.program
        if own is None:
            return False
        return journal.has_program(own) or any(
            flight.program is not None and own.is_same(flight.program) for flight in self.before
        )


class PipelineSchedule:
    """Groups of attempts under way, committed in the order in which they were proposed.

    Where nodes are judged alone, a group is one attempt; where the evaluator judges a round together, it is a round.
    """

    whole_rounds: ClassVar[bool] = False
    repeatable: ClassVar[bool] = True

    @staticmethod
    def waits_for(place: Place, other: Place, *, together: bool) -> bool:
        """Commits come in the order of the proposals; a round that is judged together is committed as one."""
        return other[0] <= place[0] if together else other <= place

    def __init__(self) -> None:
        self._groups: deque[list[_Flight]] = deque()
        self._kept = 0
        """Groups that were proposed after an interrupt: a resume begins them, as it does after a kill."""
        self._reason = ""

    def run(self, search: SearchState, pool: ThreadPoolExecutor) -> str:
        """Search until a limit is reached and everything under way is committed; the reason.

        Raises Interrupted at the first that the user's end kept from being begun: nothing behind it is committed before
        it, and what ran meanwhile is stored.
        """
        for group in search.take_restored():
            self._start(search, group, pool)
        while True:
            self._fill(search, pool)
            if not self._groups:
                stopped = search.reason() if search.is_interrupted else ""
                return stopped or self._reason or search.reason() or "the policy has nothing more to propose"
            self._land(search, self._groups.popleft(), pool)
            self._reason = self._reason or search.runner.exhausted

    def _fill(self, search: SearchState, pool: ThreadPoolExecutor) -> None:
        """Ask for one group after the other, each from the journal as it stands, up to the lag.

        After an interrupt what is due is still asked for and stored, so that a resume goes on in the same order; it is
        not begun. What is recorded is asked for when it was, whatever the lag is by now: where that leaves no room, not
        before the withdrawn are gone whose turn has come, since no verdict says when that was.
        """
        while not self._reason and (self._has_room(search) or (search.is_recorded and not self._is_gone(search))):
            size = self._size(search)
            self._reason = search.limit() or ""
            proposals = [] if self._reason else search.ask_within_limits(size)
            if not proposals:
                return
            tasks = search.open_round(proposals)
            if search.is_interrupted:
                self._kept += 1
            else:
                self._start(search, [search.begin(task) for task in tasks], pool)

    def _size(self, search: SearchState) -> int:
        return search.batch if search.runner.together else 1

    def _has_room(self, search: SearchState) -> bool:
        lag = search.plan.lag or lag_of(search.batch)
        return (len(self._groups) + self._kept) * self._size(search) < lag

    def _is_gone(self, search: SearchState) -> bool:
        """In a replay: nobody wrote what stands first."""
        first = self._groups[0] if self._groups else ()
        return bool(first) and all(flight.attempt.task.node_id in search.plan.withdrawn for flight in first)

    def _start(
        self, search: SearchState, group: Iterable[tuple[Attempt, RoundContext]], pool: ThreadPoolExecutor
    ) -> None:
        before = tuple(flight for flights in self._groups for flight in flights)
        flights = [_Flight(attempt, context, before) for attempt, context in group]
        for flight in flights:
            flight.result = pool.submit(self._lead_group if search.runner.together else self._lead, search, flight)
        self._groups.append(flights)

    # ------------------------------------------------------------ in the threads

    def _write(self, search: SearchState, flight: _Flight) -> None:
        attempt = flight.attempt
        try:
            search.runner.draft(attempt)
            if search.runner.may_repeat(attempt) and attempt.node is not None:
                flight.program = search.journal.fingerprint(attempt.node.code)
        finally:
            flight.written.set()

    def _lead_group(self, search: SearchState, flight: _Flight) -> list[Attempt]:
        """Write it and let it be looked at; the whole group is judged when its turn has come."""
        self._write(search, flight)
        search.runner.look_ahead(flight.attempt)
        return [flight.attempt]

    def _lead(self, search: SearchState, flight: _Flight) -> list[Attempt]:
        """Write it, run it and have it reviewed. What repeats a program before it is neither run nor reviewed."""
        self._write(search, flight)
        if flight.repeats(search.journal):
            return [flight.attempt]
        chain = search.runner.judge_alone(flight.attempt, flight.context)
        if not search.runner.awaits_review(chain):
            return chain
        for earlier in flight.before:  # a review is paid for: first be sure that the program is no repetition
            earlier.written.wait()
        if not flight.repeats(search.journal):
            search.runner.review_alone(chain)
        return chain

    # ------------------------------------------------------------ in order

    def _land(self, search: SearchState, flights: list[_Flight], pool: ThreadPoolExecutor) -> None:
        """Wait for a group, decide what it repeats now that all before it are committed, and commit it.

        What the budget refused stays open; what is paid for and stands behind it is committed all the same.
        """
        landed = [flight for flight in flights if self._has_landed(search, flight)]
        for flight in flights:
            flight.before = ()  # else each keeps all before it in memory
        if search.runner.together:
            attempts = [flight.attempt for flight in landed]
            search.commit(search.runner.judge_round(attempts, flights[0].context, pool))
            return
        for flight in landed:
            assert flight.result is not None
            chain = flight.result.result()
            try:  # a twin of what never came is run and reviewed only now: the budget may refuse it as well
                chain = search.runner.settle(chain, flight.context) if flight.program else chain
                search.runner.review_alone(chain)
            except BudgetExhausted as error:
                search.runner.exhausted = str(error)
                continue
            search.commit(chain)

    def _has_landed(self, search: SearchState, flight: _Flight) -> bool:
        assert flight.result is not None
        try:
            flight.result.result()
        except TicketGone:
            search.journal.withdraw(flight.attempt.task.node_id)
            return False
        except BudgetExhausted as error:
            search.runner.exhausted = str(error)
            return False
        return True
