"""What the writers of a round are told beside their tasks: the user's notes, memory, and what they share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from core.contracts import Store
from core.loop.attempt import RoundContext
from core.loop.stages import Stages
from core.state.journal import Journal
from core.state.memory import Memory
from core.state.task import Task


class RoundContexts:
    """Makes the context of each round, the same whenever it is asked for.

    Args:
        memory: (journal, task) → what earlier attempts taught, for the prompt.
        steps_left: → steps up to `max_steps`; None without a limit.
    """

    def __init__(
        self,
        stages: Stages,
        store: Store,
        journal: Journal,
        memory: Callable[[Journal, Task], Memory],
        steps_left: Callable[[], int | None],
    ) -> None:
        self._stages = stages
        self._store = store
        self._journal = journal
        self._memory = memory
        self._steps_left = steps_left

    def of(self, task: Task) -> RoundContext:
        """For the writers of the task's round. The round's shared data are asked for once and then a stored fact."""
        notes = self._store.get_fact(f"round/{task.round}/notes")
        left = self._steps_left() if task.steps_left is None else task.steps_left
        context = replace(self.for_given(), notes=tuple(notes or ()), steps_left=left)
        return replace(context, shared=self._shared(task, context))

    def for_given(self) -> RoundContext:
        """For programs that nobody is asked to write."""
        cache: dict[tuple[str, ...], Memory] = {}

        def memory(task: Task) -> Memory:
            if task.parent_ids not in cache:
                cache[task.parent_ids] = self._memory(self._journal, task)
            return cache[task.parent_ids]

        return RoundContext(memory, self._steps_left())

    def _shared(self, task: Task, context: RoundContext) -> dict[str, Any]:
        key = f"round/{task.round}/shared"
        known = self._store.get_fact(key)
        if known is None:
            agent = self._stages.agent(task.operator)
            known = agent.begin_round(self._stages.begin(task, context).context)
            if known:
                self._store.put_fact(key, known, agent.drain_events())
        return dict(known)
