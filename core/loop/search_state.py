"""A running search: what is open, what is proposed next, what is committed. Schedules decide in which order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain, groupby
from math import ceil
from random import Random
from typing import Any

from core.contracts import Agent, Progress, Proposal, SearchPolicy, Store
from core.events import Event, RoundOpened
from core.loop.attempt import Attempt, RoundContext, Usage
from core.loop.commit_events import events_of
from core.loop.learning import Learning
from core.loop.plan import Control, Plan
from core.loop.reached_limit import ReachedLimit
from core.loop.round_contexts import RoundContexts
from core.loop.round_runner import RoundRunner
from core.loop.stages import Stages
from core.state.journal import Journal
from core.state.memory import Memory
from core.state.node import Node
from core.state.operators import FREE_OPERATORS
from core.state.task import Task, derive_seed, node_id
from utils.collector import no_collections

SUMMARIES = "summaries"
"""Fact: the newest states of the journal's summary, oldest first: what follows from the nodes, kept to be quick."""
SUMMARY_EVERY = 500
SUMMARIES_KEPT = 3
"""What is open at a kill was proposed from a shorter journal than there is."""


class SearchState:
    """The operations that every schedule is made of: ask, open a round, begin, play, commit.

    One thread calls them; only `runner` works in several.

    Args:
        stop: Progress → the reason to stop, or None.
        spent: → (tokens, dollars) of the whole run so far.
        active_seconds: → seconds the run has been worked on, resumes added up.
        memory: (journal, task) → what earlier attempts taught, for the prompt.
        usage: node id → what its calls used.
    """

    def __init__(
        self,
        *,
        plan: Plan,
        policy: SearchPolicy,
        stages: Stages,
        runner: RoundRunner,
        store: Store,
        journal: Journal,
        learning: Learning,
        stop: Callable[[Progress], str | None],
        spent: Callable[[], tuple[int, float]],
        active_seconds: Callable[[], float],
        memory: Callable[[Journal, Task], Memory],
        usage: Callable[[str], Usage],
        control: Control,
    ) -> None:
        self.plan = plan
        self.journal = journal
        self.runner = runner
        self.stages = stages
        self.contexts = RoundContexts(
            stages, store, journal, memory, self.steps_left, lambda number: node_id(plan.seed, number, 0)
        )
        self._policy = policy
        self._store = store
        self._learning = learning
        self._reached = ReachedLimit(stop, store)
        self._spent = spent
        self._active_seconds = active_seconds
        self._usage = usage
        self._control = control
        self._notes: list[str] = []
        self._round = 0
        self._restored: list[tuple[Attempt, RoundContext]] = []
        self._newest: list[Task] = []
        """Open tasks that were proposed from the journal as it is."""

    def restore(self, *, begin_open: bool = False) -> None:
        """Read the stored nodes into the journal and tell the policy of each, in order.

        Args:
            begin_open: begin each open task when the journal stands as it stood when the task was proposed, for
                `take_restored`: its prompt comes out as it was, and what is answered is not asked again.
        """
        waiting: dict[int, list[Task]] = defaultdict(list)
        for task in self.open_tasks() if begin_open else ():
            waiting[task.seen].append(task)
        ahead = {task.seen: (task, row) for row, task in self.contexts.unanswered(self._store.rounds())}
        known = self._summary_of(min({*waiting, *ahead}, default=None))
        stops = {*waiting, *ahead, *([] if known is None else [known["nodes"]])}
        with no_collections():
            for length, node in enumerate(self._store.stored_nodes()):
                if length in stops:
                    self._begin_restored(waiting, ahead, known)
                self._learning.learn(self.journal.restore(node))
        self._newest = waiting.pop(len(self.journal), [])  # begun by `take_restored`: by then who is asked is heard
        self._begin_restored(waiting, ahead, known)
        for task in chain.from_iterable(waiting.values()):  # a store of before `Task.seen`
            self._restored.append(self.begin(task))
        for task in [*(attempt.task for attempt, _ in self._restored), *self._newest]:
            self.journal.propose(task)
        self.journal.restored()
        self._policy.drain_events()  # told already, in the run's first process
        self._round = self._store.rounds()
        self._reached.restore(self._round)

    def _begin_restored(
        self, waiting: dict[int, list[Task]], ahead: dict[int, tuple[Task, int]], summary: dict[str, Any] | None
    ) -> None:
        """Begin the tasks that were proposed from a journal of just this length, and what one of them asked ahead."""
        length = len(self.journal)
        if summary is not None and summary["nodes"] == length:
            self.journal.restore_summary(summary)
        if length in ahead:
            self.contexts.ask_ahead(*ahead.pop(length))
        if length in waiting:
            self._restored += [self.begin(task) for task in waiting.pop(length)]

    def _summary_of(self, begun: int | None) -> dict[str, Any] | None:
        """The newest of the stored states of the summary that is no younger than what was proposed first and is open.

        Args:
            begun: how long the journal was then; None where nothing is open.
        """
        stored = self._store.get_fact(SUMMARIES) or ()
        return next((state for state in reversed(stored) if begun is None or state["nodes"] <= begun), None)

    def _keep_summary(self, added: int) -> None:
        """Store now and then how far the summary is: a resume writes only the lines of the nodes behind it."""
        if len(self.journal) % SUMMARY_EVERY < added:
            stored = self._store.get_fact(SUMMARIES) or []
            self._store.put_fact(SUMMARIES, [*stored, self.journal.summary_state()][-SUMMARIES_KEPT:])

    def take_restored(self) -> list[list[tuple[Attempt, RoundContext]]]:
        """What `restore` has begun, and what it has left to be begun now, round by round; once."""
        restored = self._restored + [self.begin(task) for task in self._newest]
        self._restored, self._newest = [], []
        rounds = groupby(restored, key=lambda begun: begun[0].task.round)
        return [list(group) for _, group in rounds]

    @property
    def newest_round(self) -> int:
        """The number of the round that was opened last; 0 before the first."""
        return max(self._round - 1, 0)

    # ------------------------------------------------------------ what is next

    def open_tasks(self) -> list[Task]:
        """What the search had begun when it was cut off, with what nobody will write and waits for its turn to go."""
        tasks = self._store.open_tasks(withdrawn=True)
        return [task for task in tasks if not self._store.get_fact(f"round/{task.round}/by_hand")]

    def reason(self) -> str | None:
        """Why to stop now, or None."""
        return "interrupted" if self.is_interrupted else self.limit()

    @property
    def is_interrupted(self) -> bool:
        """True once the user wants the end."""
        return self._control.is_interrupted

    def limit(self) -> str | None:
        """The limit that is reached, or None."""
        return self._reached.reason(self.progress())

    def progress(self) -> Progress:
        """How far the run is, as its limits count.

        While something is under way, tokens and dollars are those of what is committed: what the calls under way have
        taken so far depends on the clock. The budget itself holds back their worst case.
        """
        under_way = bool(self.journal.open_tasks)
        tokens, usd = (self._learning.tokens, self._learning.usd) if under_way else self._spent()
        best = self.journal.leader
        generations = [node.generation for node in self.journal.latest(1) if node.generation is not None]
        return Progress(
            steps=self.journal.steps,
            generations=next((n for n in (self._policy.finished_generations, *generations) if n is not None), 0),
            seconds=self._active_seconds(),
            tokens=tokens,
            usd=usd,
            best_metric=best.metric_value if best else None,
            steps_since_best=self._learning.steps_since_best,
            repeats=self._learning.repeats,
            nothing_left=self._learning.nothing_left,
        )

    def progress_now(self) -> Progress:
        """The same with the tokens and dollars of the calls that were answered for what is under way."""
        tokens, usd = self._spent()
        return replace(self.progress(), tokens=tokens, usd=usd)

    @property
    def batch(self) -> int:
        """Proposals of the round that is asked for next; in a replay as many as then."""
        return self.stages.told(self._round).batch

    @property
    def is_recorded(self) -> bool:
        """True in a replay whose record says when the next round was asked for."""
        return self._round in self.plan.asked

    @property
    def is_due(self) -> bool:
        """False in a replay whose next round was asked for from a longer journal."""
        asked = self.plan.asked.get(self._round)
        return asked is None or len(self.journal) >= asked.seen

    def steps_left(self) -> int | None:
        """Steps up to `max_steps`, in a replay the limit of then, that nobody has begun; None without a limit."""
        asked = self.plan.asked.get(self._round)
        if asked is not None:
            return asked.steps_left
        if self.plan.max_steps is None:
            return None
        return self.plan.max_steps - self.journal.steps - len(self.journal.open_tasks)

    @property
    def may_begin(self) -> int | None:
        """How many more steps may be begun; None: any number."""
        begun = self.journal.steps + len(self.journal.open_tasks)
        limits = [limit - begun for limit in (self.plan.max_steps, self.plan.last_step) if limit is not None]
        return min(limits, default=None)

    def ask(self, k: int) -> list[Proposal]:
        """The policy's next proposals: no more than the steps left, and none before they are due."""
        if not self.is_due:
            return []
        self._notes += self._control.poll(self.journal)
        self._drop()
        left = self.steps_left()
        if left is not None:
            k = min(k, max(left, 1))
        return self._policy.ask(self.journal, Random(derive_seed(self.plan.seed, "ask", self._round)), k)

    def ask_within_limits(self, k: int) -> list[Proposal]:
        """As `ask`, but nothing for which what is under way leaves no room: neither steps nor generations."""
        if self.is_due:
            self._drop()
        if self.may_begin is not None and self.may_begin <= 0:
            return []
        return [proposal for proposal in self.ask(k) if not self._is_past_the_limit(proposal)]

    def _drop(self) -> None:
        """In a replay: forget what had been withdrawn when this round was asked for, since nobody had begun it."""
        for gone in self.plan.dropped.get(self._round, ()):
            self.journal.withdraw(gone)

    def _is_past_the_limit(self, proposal: Proposal) -> bool:
        """True if its generation is counted by the policy, from 0, and is not one of the first `max_generations`."""
        limit = self.plan.max_generations
        counted = proposal.generation is not None and self._policy.finished_generations is not None
        return counted and limit is not None and (proposal.generation or 0) >= limit

    def open_round(
        self,
        proposals: Sequence[Proposal],
        *,
        by_hand: bool = False,
        stages: Sequence[Mapping[str, dict[str, Any]]] = (),
    ) -> list[Task]:
        """Give proposals their identity and store them: from here on the round is fixed.

        Args:
            by_hand: it belongs to `step`: a search that is resumed leaves it alone.
            stages: what each takes over of another node, as `Store.open_round` has it.
        """
        number = self._round
        tasks = [self._task(number, slot, proposal) for slot, proposal in enumerate(proposals)]
        self._round += 1
        whys = [proposal.why for proposal in proposals]
        opened = RoundOpened(round=number, node_ids=[task.node_id for task in tasks])
        facts = self._notes_of(number, len(tasks)) | ({f"round/{number}/by_hand": True} if by_hand else {})
        self._reached.forget()
        self._store.open_round(tasks, whys, [opened], facts, stages)
        for task in tasks:
            self.journal.propose(task)
        return tasks

    def _notes_of(self, number: int, size: int) -> dict[str, list[str]]:
        """What the user noted is told to the next `batch` writers: those of this round, and of small ones behind it."""
        notes, self._notes = self._notes, []
        rounds = range(number, number + ceil(self.stages.told(number).batch / size)) if notes else ()
        keys = [f"round/{round_}/notes" for round_ in rounds]
        return {key: [*(self._store.get_fact(key) or ()), *notes] for key in keys}

    def _task(self, number: int, slot: int, proposal: Proposal) -> Task:
        return Task(
            node_id=node_id(self.plan.seed, number, slot),
            operator=proposal.operator,
            parent_ids=proposal.parents,
            round=number,
            slot=slot,
            repairs=proposal.repairs,
            generation=proposal.generation,
            island=proposal.island,
            seen=len(self.journal),
            steps_left=self.steps_left(),
            seed=derive_seed(self.plan.seed, "task", number, slot),
        )

    # ------------------------------------------------------------ from task to node

    def begin(self, task: Task) -> tuple[Attempt, RoundContext]:
        """An attempt, and what the writers of its round are told."""
        (attempt,), context = self.contexts.begin(task)
        return attempt, context

    def play(self, tasks: Sequence[Task], pool: ThreadPoolExecutor) -> list[Node]:
        """A whole round, and its commit in slot order."""
        attempts, context = self.contexts.begin(*tasks)
        return self.commit(self.runner.play(attempts, context, pool))

    def commit(self, attempts: Sequence[Attempt]) -> list[Node]:
        """Into the journal and the store, in order, in one transaction, with what agents say of them and what the
        policy says when it has learned of them: killed in between nobody would hear it, or would hear it twice.
        """
        agents = {id(agent): agent for agent in map(self._agent_of, attempts) if agent}
        events: list[Event] = [event for agent in agents.values() for event in agent.drain_events()]
        nodes: list[Node] = []
        for attempt in attempts:
            self.stages.confirm(attempt)
        for attempt in attempts:
            node = self.journal.append(self.stages.finished(attempt))
            nodes.append(node)
            events += events_of(node, self.journal, self._usage(node.id), self._active_seconds())
        for node in nodes:
            self._learning.learn(node)
        if nodes:
            self._store.commit(nodes, [*events, *self._policy.drain_events()])
        self.journal.stored()
        self._keep_summary(len(nodes))
        if self.journal.open_tasks:
            self._reached.keep(self.progress(), self._round)
        return nodes

    def _agent_of(self, attempt: Attempt) -> Agent | None:
        return None if attempt.task.operator in FREE_OPERATORS else self.stages.agent(attempt.task.operator)
