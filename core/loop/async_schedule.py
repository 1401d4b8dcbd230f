"""`search.schedule: async`: no slot waits for another, at the price of an order that depends on the clock."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from core.contracts import Evaluation
from core.loop.attempt import Attempt
from core.loop.round_runner import RoundRunner
from core.state.task import Task
from utils.errors import BudgetExhausted

if TYPE_CHECKING:
    from core.loop.orchestrator import Orchestrator


class AsyncSchedule:
    """As many attempts under way as a batch has slots; each is committed when it is ready, and the order recorded.

    Args:
        search: proposes, opens rounds of one task, and commits.
        runner: leads an attempt to its verdict.
        slots: attempts under way at once.
    """

    def __init__(self, search: Orchestrator, runner: RoundRunner, slots: int) -> None:
        self._search = search
        self._runner = runner
        self._slots = slots
        self._flying: set[Future[list[Attempt]]] = set()
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
            self._reason = self._reason or self._runner.exhausted

    def _fill(self, pool: ThreadPoolExecutor) -> None:
        while not self._reason and len(self._flying) < self._slots:
            left = self._search.steps_left()
            if not self._waiting and (left is None or left > len(self._flying)):
                self._reason = self._search.reason() or ""
                proposals = [] if self._reason else self._search.ask(1)
                self._waiting += self._search.open_round(proposals[:1]) if proposals else []
            if not self._waiting:
                return
            attempt, notes = self._search.begin_with_notes(self._waiting.pop(0))
            self._flying.add(pool.submit(self._runner.one, attempt, notes))

    def _land(self, future: Future[list[Attempt]], pool: ThreadPoolExecutor) -> None:
        """Commit what one thread brought; a program that another one brought meanwhile is a duplicate."""
        try:
            chain = future.result()
        except BudgetExhausted as error:
            self._runner.exhausted = str(error)
            return
        for attempt in chain:
            if attempt.is_alive or attempt.node is None or attempt.verdict is None:
                continue
            found = None if attempt.verdict.duplicate_of else self._search.journal.find_duplicate(attempt.node.code)
            if found is not None and attempt.verdict.failure is None and attempt.task.operator != "tune":
                attempt.verdict = Evaluation(duplicate_of=found[0], message=f"same program as {found[0]}")
        self._runner.review(chain, pool)
        self._search.commit(chain)
