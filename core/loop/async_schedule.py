"""`search.schedule: async`: no slot waits for another, at the price of an order that depends on the clock."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import chain
from typing import ClassVar

from core.loop.attempt import Attempt, RoundContext
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
        self._flying: dict[Future[list[Attempt]], RoundContext] = {}
        self._reason = ""

    def run(self, search: SearchState, pool: ThreadPoolExecutor) -> str:
        """Search until a limit is reached and all that is under way has landed; the reason."""
        for attempt, context in chain.from_iterable(search.take_restored()):
            self._begin(search, attempt, context, pool)
        while True:
            self._fill(search, pool)
            if not self._flying:
                return self._reason or search.reason() or "the policy has nothing more to propose"
            done, _ = wait(self._flying, return_when=FIRST_COMPLETED)
            for future in done:
                self._land(search, future, self._flying.pop(future), pool)
            self._reason = self._reason or search.runner.exhausted

    def _fill(self, search: SearchState, pool: ThreadPoolExecutor) -> None:
        while not self._reason and len(self._flying) < search.batch:
            self._reason = search.reason() or ""
            proposals = [] if self._reason else search.ask_within_limits(1)
            if not proposals:
                return
            attempt, context = search.begin(search.open_round(proposals[:1])[0])
            self._begin(search, attempt, context, pool)

    def _begin(self, search: SearchState, attempt: Attempt, context: RoundContext, pool: ThreadPoolExecutor) -> None:
        self._flying[pool.submit(search.runner.one, attempt, context)] = context

    def _land(
        self, search: SearchState, future: Future[list[Attempt]], context: RoundContext, pool: ThreadPoolExecutor
    ) -> None:
        """Commit what one thread brought; a program that another one brought meanwhile is a duplicate."""
        try:
            attempts = search.runner.settle(future.result(), context)
        except (Interrupted, TicketGone):
            return
        except BudgetExhausted as error:
            search.runner.exhausted = str(error)
            return
        search.commit(search.runner.review(attempts, pool))
