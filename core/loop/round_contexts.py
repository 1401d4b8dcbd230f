"""What the writers of a round are told beside their tasks: the user's notes, memory, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from core.contracts import Store
from core.loop.attempt import Attempt, RoundContext
from core.loop.stages import Stages
from core.state.journal import Journal
from core.state.memory import Memory
from core.state.task import Task
from utils.thread_pool import Pool


class RoundContexts:
    """Makes the context of each round, the same whenever it is asked for.

    Args:
        memory: (journal, task) → what earlier attempts taught, for the prompt.
        steps_left: → steps up to `max_steps`; None without a limit.
        first_id: number of a round → id of its first node.

    `RunContext.sharing` rounds, which share what `Agent.begin_round` gives, are a row. What it shares is asked for when
    the row before it begins, so that nobody waits for the reply.
    """

    def __init__(
        self,
        stages: Stages,
        store: Store,
        journal: Journal,
        memory: Callable[[Journal, Task], Memory],
        steps_left: Callable[[], int | None],
        first_id: Callable[[int], str],
    ) -> None:
        self._stages = stages
        self._store = store
        self._journal = journal
        self._memory = memory
        self._steps_left = steps_left
        self._first_id = first_id
        self._pool: Pool | None = None
        self._ahead: dict[int, Future[dict[str, Any]]] = {}
        """Row → what it will share."""
        self._known: tuple[int, dict[str, Any]] = -1, {}
        """The row that was asked for last, and what it shares."""
        self._asker: tuple[int, str] = -1, ""
        """The row that was asked for ahead last, and the task that did."""

    def begin(self, task: Task, *others: Task) -> tuple[list[Attempt], RoundContext]:
        """An attempt at each of these tasks of one round, and what their writers are told. What they share is asked for
        once and then a stored fact.
        """
        context = self._own(task)
        attempts = [self._stages.begin(one, context) for one in (task, *others)]
        shared = next(filter(None, (self._shared(attempt, context) for attempt in attempts)), {})
        if shared:
            context = replace(context, shared=shared)
            for attempt in attempts:
                attempt.context = replace(attempt.context, shared=shared)
        return attempts, context

    def _own(self, task: Task) -> RoundContext:
        notes = self._store.get_fact(f"round/{task.round}/notes")
        left = task.steps_left if "steps_left" in task.model_fields_set else self._steps_left()
        return replace(self.for_given(), notes=tuple(notes or ()), steps_left=left)

    def for_given(self) -> RoundContext:
        """For programs that nobody is asked to write."""
        cache: dict[tuple[str, ...], Memory] = {}

        def memory(task: Task) -> Memory:
            if task.parent_ids not in cache:
                cache[task.parent_ids] = self._memory(self._journal, task)
            return cache[task.parent_ids]

        return RoundContext(memory, self._steps_left())

    # ------------------------------------------------------------ what a row shares

    def _shared(self, attempt: Attempt, context: RoundContext) -> dict[str, Any]:
        task = attempt.task
        sharing = self._stages.told(task.round).sharing
        row = task.round - task.round % sharing
        known = self._known[1] if self._known[0] == row else self._store.get_fact(_shared_of(row))
        if known is None:
            agent = self._stages.agent(task.operator)
            early = self._ahead.pop(row, None)
            known = early.result() if early else agent.begin_round(attempt.context)
            if known:
                self._store.put_fact(_shared_of(row), known, agent.drain_events(), can_be_made_again=True)
        if known and sharing > 1:
            self._known = row, known
            self._look_ahead(attempt, row + sharing, context)
        return dict(known)

    def _look_ahead(self, attempt: Attempt, row: int, context: RoundContext) -> None:
        """Have the first task of its row that takes a direction ask for those of the next."""
        task = attempt.task
        if task.steps_left is not None and task.steps_left <= row - task.round:
            return  # there will be none
        if self._asker[0] != row:
            asker = self._store.get_fact(_asker_of(row))
            if asker is None and not self._may_ask(attempt):
                return
            if asker is None:
                asker = task.model_dump(mode="json")
                self._store.put_fact(_asker_of(row), asker, can_be_made_again=True)
            self._asker = row, asker["node_id"]
        if self._asker[1] == task.node_id:
            self.ask_ahead(task, row, context)

    def _may_ask(self, attempt: Attempt) -> bool:
        """True for a task of the search that takes a direction."""
        if self._store.get_fact(f"round/{attempt.task.round}/by_hand"):
            return False
        return self._stages.agent(attempt.task.operator).takes_shared(attempt.context)

    def ask_ahead(self, task: Task, row: int, context: RoundContext | None = None) -> None:
        """Begin to ask for what that row will share, from the journal as it stands, as `task` would, and with what the
        row before it shares: its writers have only begun.

        It is counted as the row's first node's: that is committed later.
        """
        if row in self._ahead or self._store.get_fact(_shared_of(row)) is not None:
            return
        of_row = task.model_copy(update={"node_id": self._first_id(row), "round": row, "slot": 0})
        before = self._store.get_fact(_shared_of(row - self._stages.told(row).sharing)) or {}
        asking = self._stages.begin(of_row, replace(context or self._own(task), shared=before)).context
        self._pool = self._pool or Pool(1, thread_name_prefix="ahead")
        self._ahead[row] = self._pool.submit(self._stages.agent(task.operator).begin_round, asking)

    def unanswered(self, rounds: int) -> Iterator[tuple[int, Task]]:
        """After the end of a process: rows whose shared part was asked for and not stored, with the task that asked.

        Args:
            rounds: so many were opened.
        """
        newest = max(rounds - 1, 0)
        sharing = self._stages.told(newest).sharing
        first = newest - newest % sharing
        for row in (first, first + sharing) if sharing > 1 else ():
            asked = self._store.get_fact(_asker_of(row))
            if asked is not None and self._store.get_fact(_shared_of(row)) is None:
                yield row, Task.model_validate(asked)

    def close(self, *, wait: bool = True) -> None:
        """Wait for a reply that is under way, since it is paid for, unless the user wants to stop now."""
        if self._pool is not None:
            self._pool.shutdown(wait=wait, cancel_futures=True)
            self._pool = None


def _shared_of(row: int) -> str:
    """The fact that holds what a row shares."""
    return f"round/{row}/shared"


def _asker_of(row: int) -> str:
    """The fact that holds the task that asked for it ahead of the row."""
    return f"round/{row}/asked_by"
