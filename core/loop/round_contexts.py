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
        sharing: how many rounds in a row share what `Agent.begin_round` gives: more than one where a round is a single
            proposal.
    """

    def __init__(
        self,
        stages: Stages,
        store: Store,
        journal: Journal,
        memory: Callable[[Journal, Task], Memory],
        steps_left: Callable[[], int | None],
        sharing: int = 1,
    ) -> None:
        self._stages = stages
        self._store = store
        self._journal = journal
        self._memory = memory
        self._steps_left = steps_left
        self._sharing = sharing

    def of(self, task: Task, *others: Task) -> RoundContext:
        """For the writers of these tasks of one round. What they share is asked for once and then a stored fact."""
        notes = self._store.get_fact(f"round/{task.round}/notes")
        left = task.steps_left if "steps_left" in task.model_fields_set else self._steps_left()
        context = replace(self.for_given(), notes=tuple(notes or ()), steps_left=left)
        asked = (self._shared(one, context) for one in (task, *others))
        return replace(context, shared=next(filter(None, asked), {}))

    def for_given(self) -> RoundContext:
        """For programs that nobody is asked to write."""
        cache: dict[tuple[str, ...], Memory] = {}

        def memory(task: Task) -> Memory:
            if task.parent_ids not in cache:
                cache[task.parent_ids] = self._memory(self._journal, task)
            return cache[task.parent_ids]

        return RoundContext(memory, self._steps_left())

    def _shared(self, task: Task, context: RoundContext) -> dict[str, Any]:
        key = f"round/{task.round - task.round % self._sharing}/shared"
        known = self._store.get_fact(key)
        if known is None:
            agent = self._stages.agent(task.operator)
            known = agent.begin_round(self._stages.begin(task, context).context)
            if known:
                self._store.put_fact(key, known, agent.drain_events())
        return dict(known)
