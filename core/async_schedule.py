"""`search.schedule: async`: no slot waits for another, at the price of an order that depends on the clock."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from core.contracts import Evaluation
from core.node_life import Life
from core.round import RoundPlayer
from core.state.task import Task
from utils.errors import BudgetExhausted

if TYPE_CHECKING:
    from core.orchestrator import Orchestrator


class AsyncSchedule:
    """As many lives under way as a batch has slots; each is committed when it is ready, and the order recorded.

    Args:
        search: proposes, opens rounds of one task, and commits.
        player: leads a life to its verdict.
        slots: lives under way at once.
    """

    def __init__(self, search: Orchestrator, player: RoundPlayer, slots: int) -> None:
        self._search = search
        self._player = player
        self._slots = slots
        self._flying: set[Future[list[Life]]] = set()
        self._waiting: list[Task] = []
        self._reason = ""

    def run(self, pool: ThreadPoolExecutor) -> str:
        """Search until a limit is reached and all that is under way has landed; the reason."""
        self._waiting = self._search.open_tasks()
        while True:
            self._fill(pool)
            if not self._flying:
                return self._reason or self._search.reason() or "the policy has nothing more to propose"
            done, self._flying = wait(self._flying, return_when=FIRST_COMPLETED)
            for future in done:
                self._land(future, pool)
            self._reason = self._reason or self._player.exhausted

    def _fill(self, pool: ThreadPoolExecutor) -> None:
        while not self._reason and len(self._flying) < self._slots:
            left = self._search.steps_left()
            if not self._waiting and (left is None or left > len(self._flying)):
                self._reason = self._search.reason() or ""
                proposals = [] if self._reason else self._search.ask(1)
                self._waiting += self._search.open_round(proposals[:1]) if proposals else []
            if not self._waiting:
                return
            life, notes = self._search.begin_with_notes(self._waiting.pop(0))
            self._flying.add(pool.submit(self._player.one, life, notes))

    def _land(self, future: Future[list[Life]], pool: ThreadPoolExecutor) -> None:
        """Commit what one thread brought; a program that another one brought meanwhile is a duplicate."""
        try:
            chain = future.result()
        except BudgetExhausted as error:
            self._player.exhausted = str(error)
            return
        for life in chain:
            if life.is_alive or life.node is None or life.verdict is None:
                continue
            found = None if life.verdict.duplicate_of else self._search.journal.find_duplicate(life.node.code)
            if found is not None and life.verdict.failure is None and life.task.operator != "tune":
                life.verdict = Evaluation(duplicate_of=found[0], message=f"same program as {found[0]}")
        self._player.review(chain, pool)
        self._search.commit(chain)
