"""Orchestrator: the one loop. It sees only the seams: policy, agents, evaluator, store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from core.contracts import Evaluation, Evaluator, Progress, Proposal, SearchPolicy, Store
from core.events import CandidateRejected, Event, LadderCounted, NodeCommitted, RoundOpened, Warned
from core.node_life import Life, NodeLife, RoundNotes, Usage
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import FREE_OPERATORS, Node
from core.state.task import Task, derive_seed, node_id
from utils.errors import BudgetExhausted

DISAGREEMENT = 0.2
"""Relative difference between claimed and own score from which the user is told."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The settings of the loop."""

    seed: int
    batch: int = 2
    max_steps: int | None = None
    schedule: Literal["rounds", "async"] = "rounds"
    writers: int = 8
    """Threads that write and wait; how many candidates run at once is the job runner's to say."""


@dataclass(slots=True)
class Control:
    """What the user asked of a running search: read between rounds."""

    poll: Callable[[Journal], tuple[list[Event], list[str]]] = lambda _: ([], [])
    """Applies new marks to the journal; returns their events, and the notes for the next prompts."""
    interrupted: threading.Event | None = None
    """Set by the first Ctrl-C: finish what is in flight."""


class Orchestrator:
    """Runs a search until a limit is reached. Everything it does is in the store before anybody sees it.

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
        life: NodeLife,
        evaluator: Evaluator,
        store: Store,
        journal: Journal,
        stop: Callable[[Progress], str | None],
        spent: Callable[[], tuple[int, float]],
        active_seconds: Callable[[], float],
        memory: Callable[[Journal, Task], str],
        usage: Callable[[str], Usage],
        control: Control | None = None,
    ) -> None:
        self.journal = journal
        self._plan = plan
        self._policy = policy
        self._life = life
        self._evaluator = evaluator
        self._store = store
        self._stop = stop
        self._spent = spent
        self._active_seconds = active_seconds
        self._memory = memory
        self._usage = usage
        self._control = control or Control()
        self._notes: list[str] = []
        self._exhausted = ""
        self._best_step = 0
        self._round = 0

    # ------------------------------------------------------------ entry

    def run(self) -> str:
        """Search until a limit is reached; return the reason. Raises what is our own fault."""
        self.restore()
        with ThreadPoolExecutor(self._plan.writers, thread_name_prefix="slot") as pool:
            return self._run_async(pool) if self._plan.schedule == "async" else self._run_rounds(pool)

    def restore(self) -> None:
        """Tell the policy what is stored already, in order."""
        best: str | None = None
        told = Journal(self.journal.lower_is_better)
        told.marks = self.journal.marks
        for node in list(self.journal):
            self._policy.tell(told, told.append(node.model_copy(update={"children_ids": (), "visits": 0})))
            leader = told.get_best_node()
            if leader is not None and leader.id != best:
                best, self._best_step = leader.id, told.steps
        for node in self.journal:
            visits, _ = told.visits(node.id)
            if visits:
                self.journal.copy_rewards(told, node.id)
        self._drain(self._policy)
        self._round = self._store.rounds()

    def seed_with(self, nodes: Sequence[tuple[str, str]], operator: Literal["user", "baseline"]) -> None:
        """Score (name, code) pairs as the first nodes, before the policy is asked. What is in the journal stays."""
        tasks: list[Task] = []
        codes: dict[str, tuple[str, str]] = {}
        for slot, (name, code) in enumerate(nodes):
            task = Task(
                node_id=node_id(self._plan.seed, operator, slot),
                operator=operator,
                round=0,
                slot=slot,
                seed=derive_seed(self._plan.seed, operator, slot),
            )
            if task.node_id not in self.journal:
                tasks.append(task)
                codes[task.node_id] = (name, code)
        if not tasks:
            return
        lives = []
        for task in tasks:
            life = self._life.begin(task, self._round_notes())
            name, code = codes[task.node_id]
            life.node = Node(
                id=task.node_id, code=code, plan=name, operator=operator, slot=task.slot, writer=operator,
                metadata={"name": name},
            )  # fmt: skip
            lives.append(life)
        with ThreadPoolExecutor(self._plan.writers, thread_name_prefix="seed") as pool:
            self._judge(lives, pool)
        self._commit(lives)

    def step_once(self, proposal: Proposal | None = None) -> list[Node]:
        """One round of one node, whatever `max_steps` says; what is open is finished first."""
        with ThreadPoolExecutor(self._plan.writers, thread_name_prefix="slot") as pool:
            tasks = self._store.open_tasks() or self.open_round([proposal] if proposal else self._ask(1))
            before = len(self.journal)
            self._play(tasks, pool)
            if self._exhausted:
                raise BudgetExhausted(self._exhausted)
            return list(self.journal)[before:]

    # ------------------------------------------------------------ rounds

    def _run_rounds(self, pool: ThreadPoolExecutor) -> str:
        tasks = self._store.open_tasks()
        while True:
            if not tasks:
                reason = self._reason()
                if reason:
                    return reason
                proposals = self._ask(self._plan.batch)
                if not proposals:
                    return "the policy has nothing more to propose"
                tasks = self.open_round(proposals)
            self._play(tasks, pool)
            if self._exhausted:
                return self._exhausted
            tasks = []

    def _reason(self) -> str | None:
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
            generations=getattr(self._policy, "finished_generations", generations[0] if generations else 0),
            seconds=self._active_seconds(),
            tokens=tokens,
            usd=usd,
            best_metric=best.metric_value if best else None,
            steps_since_best=self.journal.steps - self._best_step,
        )

    def _ask(self, k: int) -> list[Proposal]:
        """The policy's next proposals: no more than the steps left."""
        events, notes = self._control.poll(self.journal)
        self._notes += notes
        if events:
            self._store.append(events)
        left = self._steps_left()
        if left is not None and self._plan.max_steps is not None:
            k = min(k, max(left, 1))
        return self._policy.ask(self.journal, Random(derive_seed(self._plan.seed, "ask", self._round)), k)

    def _steps_left(self) -> int | None:
        return None if self._plan.max_steps is None else self._plan.max_steps - self.journal.steps

    def open_round(self, proposals: Sequence[Proposal]) -> list[Task]:
        """Give proposals their identity and store them: from here on the round is fixed."""
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
        opened = RoundOpened(round=number, node_ids=[task.node_id for task in tasks])
        self._store.open_round(number, tasks, whys, [opened])
        return tasks

    def _round_notes(self, number: int | None = None, shared: dict[str, Any] | None = None) -> RoundNotes:
        cache: dict[tuple[str, ...], str] = {}

        def memory(task: Task) -> str:
            if task.parent_ids not in cache:
                cache[task.parent_ids] = self._memory(self.journal, task)
            return cache[task.parent_ids]

        notes = self._store.get_fact(f"round/{number}/notes") if number is not None else None
        return RoundNotes(memory, self._steps_left(), tuple(notes or ()), shared or {})

    def _play(self, tasks: Sequence[Task], pool: ThreadPoolExecutor) -> None:
        """A round: write all, drop duplicates in slot order, judge, review, commit in slot order."""
        shared = self._shared(tasks[0])
        notes = self._round_notes(tasks[0].round, shared)
        lives = [self._life.begin(task, notes) for task in tasks]
        lives = self._affordable(lives, pool)
        self._drop_duplicates(lives)
        lives = self._gate(lives, notes, pool)
        self._judge(lives, pool)
        self._review(lives, pool)
        self._commit(lives)
        self._drain(self._policy)

    def _shared(self, task: Task) -> dict[str, Any]:
        """What all writers of the round share; asked once, then a fact."""
        key = f"round/{task.round}/shared"
        known = self._store.get_fact(key)
        if known is None:
            agent = self._life.agent(task.operator)
            life = self._life.begin(task, self._round_notes(task.round))
            known = agent.begin_round(life.context)
            if known:
                self._store.put_fact(key, known, self._drained(agent))
        return dict(known)

    def _affordable(self, lives: list[Life], pool: ThreadPoolExecutor) -> list[Life]:
        """Write all; what the budget did not reach stays open, and the run ends after this round."""
        written: list[Life] = []
        for life, future in [(life, pool.submit(self._life.write, life)) for life in lives]:
            try:
                future.result()
                written.append(life)
            except BudgetExhausted as error:
                self._exhausted = str(error)
        return written

    def _drop_duplicates(self, lives: Sequence[Life]) -> None:
        """In slot order, against the journal and the slots before: a duplicate takes a step and no evaluation."""
        seen = Journal()
        counts: dict[str, int] = {}
        for life in lives:
            if not life.is_alive or life.task.operator == "tune" or life.node is None or not life.node.code:
                continue
            found = self.journal.find_duplicate(life.node.code) or seen.find_duplicate(life.node.code)
            if found is not None:
                earlier, rung = found
                counts[rung] = counts.get(rung, 0) + 1
                life.verdict = Evaluation(
                    duplicate_of=earlier, message=f"same program as {earlier}", metadata={"rung": rung}
                )
            else:
                seen.append(Node(id=life.node.id, code=life.node.code))
        if counts:
            self._store.append([LadderCounted(round=lives[0].task.round, counts=counts)])

    def _gate(self, lives: list[Life], notes: RoundNotes, pool: ThreadPoolExecutor) -> list[Life]:
        """`Evaluator.check`, and the repairs of what it refuses: each attempt is a node of its own."""
        chains = pool.map(lambda life: self._checked(life, notes), lives)
        return [life for chain in chains for life in chain]

    def _checked(self, life: Life, notes: RoundNotes) -> list[Life]:
        chain = [life]
        repairs = self._repairs(life.task)
        while chain[-1].is_alive:
            self._life.check(chain[-1])
            refused = chain[-1]
            if refused.is_alive or len(chain) > repairs:
                break
            chain.append(self._repair(refused, notes))
        return chain

    def _repairs(self, task: Task) -> int:
        return int(self._store.why(task.node_id).get("repairs", 0))

    def _repair(self, refused: Life, notes: RoundNotes) -> Life:
        """The next attempt of a refused slot: a child of the refused node, told the reason."""
        old = refused.task
        assert refused.verdict is not None
        task = old.model_copy(
            update={
                "node_id": node_id(self._plan.seed, old.round, old.slot, old.attempt + 1),
                "operator": "debug",
                "parent_ids": (old.node_id,),
                "attempt": old.attempt + 1,
                "seed": derive_seed(self._plan.seed, "task", old.round, old.slot, old.attempt + 1),
            }
        )
        life = self._life.begin(task, notes, refusal=refused.verdict.message, parents=(self._life.finished(refused),))
        try:
            self._life.write(life)
        except BudgetExhausted as error:
            self._exhausted = str(error)
            life.node = Node(id=task.node_id, code="", operator="debug", parent_ids=task.parent_ids)
            life.verdict = Evaluation(failure=FailureKind.REPLY_ERROR, message=str(error))
        return life

    def _judge(self, lives: Sequence[Life], pool: ThreadPoolExecutor) -> None:
        """Verdicts for what is alive: one by one in parallel, or all together where scores are relative."""
        alive = [life for life in lives if life.is_alive]
        single = [life for life in alive if not self._evaluator.together or life.task.operator == "tune"]
        for future in [pool.submit(self._life.execute, life) for life in single]:
            future.result()
        rest = [life for life in alive if life.verdict is None]
        if rest:
            verdicts = self._evaluator.evaluate([life.node for life in rest if life.node is not None])
            for life, verdict in zip(rest, verdicts, strict=True):
                life.verdict = verdict
                life.seconds["execute"] = verdict.seconds

    def _review(self, lives: Sequence[Life], pool: ThreadPoolExecutor) -> None:
        """Which nodes are reviewed is decided in slot order; the reviews themselves run side by side."""
        best = self.journal.get_best_node()
        leader = best.fitness if best else None
        wanted = []
        for life in lives:
            if self._life.wants_review(life, leader):
                wanted.append(life)
            fitness = self._life.fitness(life.verdict) if life.verdict else None
            if fitness is not None and (leader is None or fitness > leader):
                leader = fitness
        for future in [pool.submit(self._life.reviewed, life) for life in wanted]:
            try:
                future.result()
            except BudgetExhausted as error:
                self._exhausted = str(error)

    # ------------------------------------------------------------ commit

    def _commit(self, lives: Sequence[Life]) -> None:
        """Into the journal and the store, in order, in one transaction; then the policy learns."""
        nodes: list[Node] = []
        events: list[Event] = []
        for life in lives:
            node = self.journal.append(self._life.finished(life))
            nodes.append(node)
            events += self._events_of(node)
        self._store.commit(nodes, events)
        for node in nodes:
            self._policy.tell(self.journal, self.journal[node.id])

    def _events_of(self, node: Node) -> list[Event]:
        best = self.journal.get_best_node()
        is_best = best is not None and best.id == node.id
        if is_best:
            self._best_step = self.journal.steps
        usage = self._usage(node.id)
        events: list[Event] = []
        gate = node.metadata.get("gate")
        if gate and node.failure:
            events.append(
                CandidateRejected(
                    generation=node.generation, node_id=node.id, gate=str(gate), failure=node.failure,
                    reason=str(node.metadata.get("message", "")),
                )
            )  # fmt: skip
        if _disagree(node):
            text = f"claimed {node.claimed_metric:g}, scored {node.metric_value:g}"
            events.append(Warned(text=text, node_id=node.id))
        events.append(
            NodeCommitted(
                node_id=node.id,
                step=node.step,
                parent_ids=list(node.parent_ids),
                operator=node.operator,
                generation=node.generation,
                island=node.island,
                metric=node.metric_value,
                metric_source=node.metric_source,
                claimed_metric=node.claimed_metric,
                is_buggy=node.is_buggy,
                is_valid=node.is_valid,
                failure=node.failure,
                message=str(node.metadata.get("message", "")),
                exec_time=node.exec_time,
                writer=node.writer,
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=usage.completion_tokens,
                cost_usd=usage.cost_usd,
                is_best=is_best,
                best_metric=best.metric_value if best else None,
                best_node_id=best.id if best else None,
                elapsed=self._active_seconds(),
            )
        )
        return events

    def _drained(self, source: object) -> list[Event]:
        drain = getattr(source, "drain_events", None)
        return list(drain()) if drain else []

    def _drain(self, source: object) -> None:
        events = self._drained(source)
        if events:
            self._store.append(events)

    # ------------------------------------------------------------ async

    def _run_async(self, pool: ThreadPoolExecutor) -> str:
        """As many lives under way as a batch has slots; each is committed when it is ready, and the order recorded."""
        flying: dict[Future[list[Life]], Task] = {}
        waiting = list(self._store.open_tasks())
        reason = ""
        while True:
            while not reason and len(flying) < self._plan.batch:
                left = self._steps_left()
                if not waiting and (left is None or left > len(flying)):
                    reason = self._reason() or ""
                    proposals = [] if reason else self._ask(1)
                    waiting += self.open_round(proposals[:1]) if proposals else []
                if not waiting:
                    break
                task = waiting.pop(0)
                notes = self._round_notes(task.round, self._shared(task))
                flying[pool.submit(self._one, self._life.begin(task, notes), notes)] = task
            if not flying:
                return reason or self._reason() or "the policy has nothing more to propose"
            done, _ = wait(flying, return_when=FIRST_COMPLETED)
            for future in done:
                del flying[future]
                self._land(future, pool)
            reason = reason or self._exhausted

    def _one(self, life: Life, notes: RoundNotes) -> list[Life]:
        self._life.write(life)
        self._drop_duplicates([life])
        chain = self._checked(life, notes)
        for attempt in chain:
            if attempt.is_alive:
                self._life.execute(attempt)
        return chain

    def _land(self, future: Future[Any], pool: ThreadPoolExecutor) -> None:
        try:
            chain: list[Life] = future.result()
        except BudgetExhausted as error:
            self._exhausted = str(error)
            return
        for life in chain:
            if life.is_alive or life.node is None or life.verdict is None:
                continue
            found = None if life.verdict.duplicate_of else self.journal.find_duplicate(life.node.code)
            if found is not None and life.verdict.failure is None and life.task.operator != "tune":
                life.verdict = Evaluation(duplicate_of=found[0], message=f"same program as {found[0]}")
        self._review(chain, pool)
        self._commit(chain)
        self._drain(self._policy)


def _disagree(node: Node) -> bool:
    """True if what the program printed and what we measured differ by more than chance explains."""
    if node.claimed_metric is None or node.metric_value is None or node.metric_source == "claimed":
        return False
    scale = max(abs(node.metric_value), 1e-9)
    return abs(node.claimed_metric - node.metric_value) / scale > DISAGREEMENT


def counts_as_step(node: Node) -> bool:
    """False for baselines and the user's own programs."""
    return node.operator not in FREE_OPERATORS
