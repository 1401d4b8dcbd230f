"""Orchestrator: the one loop. It sees only the seams: policy, agents, evaluator, store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

from core.contracts import Agent, Evaluator, Progress, Proposal, SearchPolicy, Store
from core.events import Event, NodeProposed, RoundOpened
from core.loop.async_schedule import AsyncSchedule
from core.loop.attempt import Attempt, RoundContext, Usage
from core.loop.commit_events import events_of
from core.loop.given_nodes import blended_node, given_nodes
from core.loop.round_runner import RoundRunner
from core.loop.stages import Stages
from core.state.journal import Journal
from core.state.node import FREE_OPERATORS, Node
from core.state.task import Task, derive_seed, node_id
from utils.collector import rare_collections
from utils.errors import BudgetExhausted


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings of the loop."""

    seed: int
    batch: int = 2
    max_steps: int | None = None
    """Told to writers as steps left."""
    schedule: Literal["rounds", "async"] = "rounds"
    writers: int = 8
    """Threads that write and wait; how many candidates run at once is the job runner's to say."""


@dataclass(slots=True)
class Control:
    """What the user asked of a running search: read between rounds."""

    poll: Callable[[Journal], list[str]] = lambda _: []
    """Applies what is new to the journal and stores its events; returns the notes for the next prompts."""
    interrupted: threading.Event | None = None
    """Set by the first Ctrl-C: finish what is in flight."""


@contextmanager
def _threads(count: int, name: str) -> Iterator[ThreadPoolExecutor]:
    """A pool that waits for its threads, unless the user wants to stop now: then what they do is given up."""
    pool = ThreadPoolExecutor(count, thread_name_prefix=name)
    wait = True
    try:
        yield pool
    except KeyboardInterrupt:
        wait = False
        raise
    finally:
        pool.shutdown(wait=wait, cancel_futures=True)


class Orchestrator:
    """Runs a search until a limit is reached. Everything it does is in the store before anybody sees it.

    Args:
        stop: Progress → the reason to stop, or None.
        spent: → (tokens, dollars) of the whole run so far.
        active_seconds: → seconds the run has been worked on, resumes added up.
        memory: (journal, task) → what earlier attempts taught, for the prompt.
        usage: node id → what its calls used.
        reward: told each node with what it gained over the best before it, in the metric's unit; 0 for none.
    """

    def __init__(
        self,
        *,
        plan: Plan,
        policy: SearchPolicy,
        stages: Stages,
        evaluator: Evaluator,
        store: Store,
        journal: Journal,
        stop: Callable[[Progress], str | None],
        spent: Callable[[], tuple[int, float]],
        active_seconds: Callable[[], float],
        memory: Callable[[Journal, Task], str],
        usage: Callable[[str], Usage],
        control: Control | None = None,
        reward: Callable[[Node, float], None] = lambda node, gain: None,
    ) -> None:
        self.journal = journal
        self._plan = plan
        self._policy = policy
        self._stages = stages
        self._evaluator = evaluator
        self._store = store
        self._stop = stop
        self._spent = spent
        self._active_seconds = active_seconds
        self._memory = memory
        self._usage = usage
        self._control = control or Control()
        self._notes: list[str] = []
        self._runner = RoundRunner(seed=plan.seed, stages=stages, evaluator=evaluator, store=store, journal=journal)
        self._learnt = 0
        self._best_step = 0
        self._best_fitness: float | None = None
        self._reward = reward
        self._round = 0

    # ------------------------------------------------------------ entry

    def run(self) -> str:
        """Search until a limit is reached; return the reason. `restore` comes first. Raises what is our own fault."""
        with rare_collections(), _threads(self._plan.writers, "slot") as pool:
            if self._plan.schedule == "async":
                return AsyncSchedule(self, self._runner, self._plan.batch).run(pool)
            return self._run_rounds(pool)

    def restore(self) -> None:
        """Read the stored nodes into the journal and tell the policy of each, in order."""
        for node in self._store.nodes():
            self.journal.append(node)
            self._learn(node)
        self._policy.drain_events()  # told already, in the run's first process
        self._round = self._store.rounds()

    def _learn(self, node: Node) -> None:
        """In the same order and with the same outcome whether the node is new or stored."""
        self._learnt += node.operator not in FREE_OPERATORS
        if node.operator not in FREE_OPERATORS:
            self._reward(node, _gain(node.fitness if node.is_scored else None, self._best_fitness))
        if node.is_scored and node.fitness is not None:
            self._best_fitness = max(node.fitness, node.fitness if self._best_fitness is None else self._best_fitness)
        best = self.journal.get_best_node()
        if best is not None and best.id == node.id:
            self._best_step = self._learnt
        self._policy.tell(self.journal, self.journal[node.id])

    def seed_with(self, nodes: Sequence[tuple[str, str]], operator: Literal["user", "baseline"]) -> None:
        """Score (name, code) pairs as the first nodes, before the policy is asked. What is in the journal stays."""
        new = [(t, n) for t, n in given_nodes(self._plan.seed, nodes, operator) if t.node_id not in self.journal]
        if new:
            self._judge_given(new)

    def add_ensemble(self, top_k: int) -> None:
        """Let a blend of the best compete, where the evaluator can make one. It takes no step and no tokens."""
        found = self._evaluator.ensemble(self.journal.top(top_k))
        if found is None:
            return
        code, members, plan = found
        round_ = max(self._round - 1, 0)
        task, node = blended_node(self._plan.seed, code, members, plan, round_=round_, slot=self.journal.steps)
        if task.node_id not in self.journal and not self.journal.find_duplicate(code):
            self._judge_given([(task, node)])

    def _judge_given(self, given: Sequence[tuple[Task, Node]]) -> None:
        self._store.append([NodeProposed.of(task) for task, _ in given])
        attempts = []
        for task, node in given:
            attempt = self._stages.begin(task, self._round_notes())
            attempt.node = node
            attempts.append(attempt)
        with _threads(self._plan.writers, "given") as pool:
            self.commit(self._runner.judge(attempts, pool))

    # ------------------------------------------------------------ by hand

    def play(self, tasks: Sequence[Task]) -> list[Node]:
        """One round from its tasks to its nodes."""
        with _threads(self._plan.writers, "slot") as pool:
            nodes = self._play(tasks, pool)
        if self._runner.exhausted:
            raise BudgetExhausted(self._runner.exhausted)
        return nodes

    def begin(self, task: Task) -> Attempt:
        """An attempt to be led stage by stage, with `Stages.run_stage`."""
        return self.begin_with_notes(task)[0]

    def begin_with_notes(self, task: Task) -> tuple[Attempt, RoundContext]:
        """An attempt, and what the writers of its round are told."""
        notes = self._opened(task)
        return self._stages.begin(task, notes), notes

    def run_stage(self, attempt: Attempt, stage: str) -> str:
        """Do one stage and store it; its result as text."""
        return self._stages.run_stage(attempt, stage)

    # ------------------------------------------------------------ rounds

    def _run_rounds(self, pool: ThreadPoolExecutor) -> str:
        tasks = self.open_tasks()
        while True:
            if not tasks:
                reason = self.reason()
                if reason:
                    return reason
                proposals = self.ask(self._plan.batch)
                if not proposals:
                    return "the policy has nothing more to propose"
                tasks = self.open_round(proposals)
            self._play(tasks, pool)
            if self._runner.exhausted:
                return self._runner.exhausted
            tasks = []

    def open_tasks(self) -> list[Task]:
        """What the search had begun when it was cut off."""
        return [task for task in self._store.open_tasks() if not self._store.get_fact(f"round/{task.round}/by_hand")]

    def reason(self) -> str | None:
        """Why to stop now, or None."""
        if self._control.interrupted is not None and self._control.interrupted.is_set():
            return "interrupted"
        return self._stop(self.progress())

    def progress(self) -> Progress:
        tokens, usd = self._spent()
        best = self.journal.get_best_node()
        generations = [node.generation for node in self.journal.latest(1) if node.generation is not None]
        return Progress(
            steps=self.journal.steps,
            generations=next((n for n in (self._policy.finished_generations, *generations) if n is not None), 0),
            seconds=self._active_seconds(),
            tokens=tokens,
            usd=usd,
            best_metric=best.metric_value if best else None,
            steps_since_best=self.journal.steps - self._best_step,
        )

    def ask(self, k: int) -> list[Proposal]:
        """The policy's next proposals: no more than the steps left."""
        self._notes += self._control.poll(self.journal)
        left = self.steps_left()
        if left is not None and self._plan.max_steps is not None:
            k = min(k, max(left, 1))
        return self._policy.ask(self.journal, Random(derive_seed(self._plan.seed, "ask", self._round)), k)

    def steps_left(self) -> int | None:
        """Steps up to `max_steps`; None without one."""
        return None if self._plan.max_steps is None else self._plan.max_steps - self.journal.steps

    def open_round(self, proposals: Sequence[Proposal], *, by_hand: bool = False) -> list[Task]:
        """Give proposals their identity and store them: from here on the round is fixed.

        A round `by_hand` belongs to `step`: a search that is resumed leaves it alone.
        """
        number = self._round
        self._round += 1
        tasks = [
            Task(
                node_id=node_id(self._plan.seed, number, slot),
                operator=proposal.operator,
                parent_ids=proposal.parents,
                round=number,
                slot=slot,
                generation=proposal.generation,
                island=proposal.island,
                seed=derive_seed(self._plan.seed, "task", number, slot),
            )
            for slot, proposal in enumerate(proposals)
        ]
        whys = [{**proposal.why, "repairs": proposal.repairs} for proposal in proposals]
        notes, self._notes = self._notes, []
        if notes:
            self._store.put_fact(f"round/{number}/notes", notes)
        if by_hand:
            self._store.put_fact(f"round/{number}/by_hand", True)
        opened = RoundOpened(round=number, node_ids=[task.node_id for task in tasks])
        self._store.open_round(number, tasks, whys, [opened])
        return tasks

    def _opened(self, task: Task) -> RoundContext:
        """What the writers of the task's round are told."""
        notes = self._round_notes(task.round)
        return replace(notes, shared=self._shared(task, notes))

    def _round_notes(self, number: int | None = None) -> RoundContext:
        cache: dict[tuple[str, ...], str] = {}

        def memory(task: Task) -> str:
            if task.parent_ids not in cache:
                cache[task.parent_ids] = self._memory(self.journal, task)
            return cache[task.parent_ids]

        notes = self._store.get_fact(f"round/{number}/notes") if number is not None else None
        return RoundContext(memory, self.steps_left(), tuple(notes or ()))

    def _play(self, tasks: Sequence[Task], pool: ThreadPoolExecutor) -> list[Node]:
        """A round, and its commit in slot order."""
        notes = self._opened(tasks[0])
        attempts = self._runner.play([self._stages.begin(task, notes) for task in tasks], notes, pool)
        for agent in {id(agent): agent for agent in (self._stages.agent(task.operator) for task in tasks)}.values():
            self._drain(agent)
        return self.commit(attempts)

    def _shared(self, task: Task, notes: RoundContext) -> dict[str, Any]:
        """What all writers of the round share; asked once, then a fact."""
        key = f"round/{task.round}/shared"
        known = self._store.get_fact(key)
        if known is None:
            agent = self._stages.agent(task.operator)
            known = agent.begin_round(self._stages.begin(task, notes).context)
            if known:
                self._store.put_fact(key, known, agent.drain_events())
        return dict(known)

    # ------------------------------------------------------------ commit

    def commit(self, attempts: Sequence[Attempt]) -> list[Node]:
        """Into the journal and the store, in order, in one transaction; then the policy learns."""
        nodes: list[Node] = []
        events: list[Event] = []
        for attempt in attempts:
            node = self.journal.append(self._stages.finished(attempt))
            nodes.append(node)
            events += events_of(node, self.journal, self._usage(node.id), self._active_seconds())
        self._store.commit(nodes, events)
        for node in nodes:
            self._learn(node)
        self._drain(self._policy)
        return nodes

    def _drain(self, source: SearchPolicy | Agent) -> None:
        events = source.drain_events()
        if events:
            self._store.append(events)


def _gain(fitness: float | None, best: float | None) -> float:
    """What a node adds to the best before it; the first score adds nothing that could be compared."""
    return 0.0 if fitness is None or best is None else max(fitness - best, 0.0)
