"""`search.schedule: async`: no slot waits for another, at the price of an order that depends on the clock."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import chain
from typing import ClassVar

from core.contracts import Evaluation
from core.loop.attempt import Attempt
from core.loop.search_state import SearchState
from core.state.task import Place
from utils.errors import BudgetExhausted, Interrupted, TicketGone


class AsyncSchedule:
    """As many attempts under way as a batch has slots; each is committed when it is ready, and the order recorded."""

    whole_rounds: ClassVar[bool] = False
    repeatable: ClassVar[bool] = False

    @staticmethod
    def waits_for(place: Place, other: Place, *, together: bool) -> bool:
        """A slot waits for its own repairs alone."""
        return other == place

    def __init__(self) -> None:
        self._flying: set[Future[list[Attempt]]] = set()
        self._reason = ""

    def run(self, search: SearchState, pool: ThreadPoolExecutor) -> str:
        """Search until a limit is reached and all that is under way has landed; the reason."""
        for attempt, context in chain.from_iterable(search.take_restored()):
            self._flying.add(pool.submit(search.runner.one, attempt, context))
        while True:
            self._fill(search, pool)
            if not self._flying:
                return self._reason or search.reason() or "the policy has nothing more to propose"
            done, self._flying = wait(self._flying, return_when=FIRST_COMPLETED)
            for future in done:
                self._land(search, future, pool)
            self._reason = self._reason or search.runner.exhausted

    def _fill(self, search: SearchState, pool: ThreadPoolExecutor) -> None:
        while not self._reason and len(self._flying) < search.batch:
            self._reason = search.reason() or ""
            proposals = [] if self._reason else search.ask_within_limits(1)
            if not proposals:
                return
            attempt, context = search.begin(search.open_round(proposals[:1])[0])
            self._flying.add(pool.submit(search.runner.one, attempt, context))

    def _land(self, search: SearchState, future: Future[list[Attempt]], pool: ThreadPoolExecutor) -> None:
        """Commit what one thread brought; a program that another one brought meanwhile is a duplicate."""
        try:
            attempts = future.result()
        except (Interrupted, TicketGone):
            return
        except BudgetExhausted as error:
            search.runner.exhausted = str(error)
            return
        for attempt in attempts:
            if attempt.is_alive or attempt.node is None or attempt.verdict is None:
                continue
            found = None if attempt.verdict.duplicate_of else search.journal.find_duplicate(attempt.node.code)
            if found is not None and attempt.verdict.failure is None and attempt.task.operator != "tune":
                attempt.verdict = Evaluation(duplicate_of=found[0], message=f"same program as {found[0]}")
        search.commit(search.runner.review(attempts, pool))
