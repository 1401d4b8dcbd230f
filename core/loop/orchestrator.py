"""Orchestrator: the one loop. It sees only the seams: policy, agents, evaluator, store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

from core.contracts import Evaluator, Progress, Proposal, SearchPolicy, Store
from core.events import NodeProposed
from core.loop.attempt import Attempt, Usage
from core.loop.by_hand import ByHand
from core.loop.given_nodes import blended_node, given_nodes
from core.loop.learning import Learning
from core.loop.plan import Control, Plan
from core.loop.round_runner import RoundRunner
from core.loop.schedules import Schedule
from core.loop.search_state import SearchState
from core.loop.stages import Stages
from core.state.journal import Journal
from core.state.memory import Memory
from core.state.node import Node
from core.state.task import Place, Task
from utils.collector import rare_collections
from utils.errors import BudgetExhausted, Interrupted
from utils.stop_frames import let_go
from utils.thread_pool import threads

BLENDED = 200
"""Of so many of the best scored programs a blend may be made."""


@contextmanager
def _settled(search: SearchState, store: Store) -> Iterator[None]:
    """At the end of the block nothing is asked any more, and all is stored and told of."""
    wait = True
    try:
        yield
    except KeyboardInterrupt as stop:
        wait = False
        let_go(stop)
        raise
    finally:
        search.contexts.close(wait=wait)
        store.settle()


class Orchestrator:
    """Runs a search until a limit is reached. Everything it does is in the store before anybody sees it.

    Args:
        schedule: in which order rounds and nodes come about.
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
        schedule: Schedule,
        policy: SearchPolicy,
        stages: Stages,
        evaluator: Evaluator,
        store: Store,
        journal: Journal,
        stop: Callable[[Progress], str | None],
        spent: Callable[[], tuple[int, float]],
        active_seconds: Callable[[], float],
        memory: Callable[[Journal, Task], Memory],
        usage: Callable[[str], Usage],
        control: Control | None = None,
        reward: Callable[[Node, float], None] = lambda node, gain: None,
    ) -> None:
        control = control or Control()
        self.journal = journal
        self._plan = plan
        self._schedule = schedule
        self._stages = stages
        self._by_hand = ByHand(stages, store)
        self._evaluator = evaluator
        self._store = store
        self._search = SearchState(
            plan=plan,
            policy=policy,
            stages=stages,
            runner=RoundRunner(
                seed=plan.seed,
                stages=stages,
                evaluator=evaluator,
                store=store,
                journal=journal,
                is_ending=lambda: control.is_interrupted,
                withdrawn=plan.withdrawn,
            ),
            store=store,
            journal=journal,
            learning=Learning(journal, policy, reward),
            stop=stop,
            spent=spent,
            active_seconds=active_seconds,
            memory=memory,
            usage=usage,
            control=control,
        )
        self.open_round = self._search.open_round

    # ------------------------------------------------------------ the whole search

    def run(self, conclude: Callable[[], None] = lambda: None) -> str:
        """Search until a limit is reached; return the reason. `restore` comes first. Raises what is our own fault.

        Args:
            conclude: adds what a search adds at its end. Called here only in the replay of a run that had ended before
                it went on, where its journal has that.
        """
        with rare_collections(), _settled(self._search, self._store), threads(self._plan.writers, "slot") as pool:
            while True:
                try:
                    reason = self._schedule.run(self._search, pool)
                except Interrupted as stop:  # what has not begun stays open, and all that stands behind it
                    return str(stop)
                known = len(self.journal)
                if not self._search.is_due:
                    conclude()
                if len(self.journal) == known:
                    return reason

    def restore(self) -> None:
        """Read the stored nodes into the journal and tell the policy of each, in order."""
        self._search.restore(begin_open=not self._schedule.whole_rounds)

    def progress(self) -> Progress:
        """What the run has used and reached so far, all its processes added up, as people are told it."""
        return self._search.progress_now()

    def waits_for(self, place: Place, other: Place) -> bool:
        """True if what stands at `place` has no verdict before what stands at `other` is written, or will not be."""
        return self._schedule.waits_for(place, other, together=self._evaluator.together)

    def limit(self) -> str:
        """The limit that is reached, as the user reads it; '' where none is."""
        return self._search.limit() or ""

    # ------------------------------------------------------------ programs that nobody was asked to write

    def seed_with(
        self, nodes: Sequence[tuple[str, str]], operator: Literal["user", "baseline"], own: Collection[str] = ()
    ) -> None:
        """Score (name, code) pairs as the first nodes, before the policy is asked. What is in the journal stays.

        Args:
            own: names of baselines that the user wrote.
        """
        given = given_nodes(self._plan.seed, nodes, operator, own)
        new = [(task, node) for task, node in given if task.node_id not in self.journal]
        if new:
            self._judge_given(new)

    def add_ensemble(self, doing: Callable[[str], None] = lambda text: None) -> None:
        """Let a blend of good programs compete, where the evaluator can make one. It takes no step and no tokens.

        Near copies lead most searches and blend to nothing new: what was begun otherwise and scores worse takes part.

        Args:
            doing: is told when there is one to run, which may take as long as any program.
        """
        found = self._evaluator.ensemble(self.journal.top(BLENDED))
        if found is None:
            return
        code, members, plan = found
        task, node = blended_node(
            self._plan.seed, code, members, plan, round_=self._search.newest_round, slot=self.journal.steps
        )
        if task.node_id not in self.journal and not self.journal.find_duplicate(code):
            many = len(members)
            what = f"a blend of {many} of the best runs" if many != 1 else "the best runs with another end"
            doing(f"the search is over; {what}, and the winner is chosen")
            self._judge_given([(task, node)])

    def _judge_given(self, given: Sequence[tuple[Task, Node]]) -> None:
        self._tell_of([task for task, _ in given])
        attempts = []
        for task, node in given:
            attempt = self._stages.begin(task, self._search.contexts.for_given())
            attempt.node = node
            attempts.append(attempt)
        with threads(self._plan.writers, "given") as pool:
            runner = self._search.runner
            self._search.commit(runner.review(runner.judge(attempts, pool), pool))

    def _tell_of(self, tasks: Sequence[Task]) -> None:
        """That each is taken up: once, also where the process before was killed while it ran."""
        told: list[str] = self._store.get_fact("given") or []
        new = [task for task in tasks if task.node_id not in told]
        if new:
            self._store.put_fact("given", [*told, *(task.node_id for task in new)], [*map(NodeProposed.of, new)])

    # ------------------------------------------------------------ by hand

    def ask(self, k: int) -> list[Proposal]:
        """The policy's next proposals: no more than the steps left."""
        return self._search.ask(k)

    def play(self, tasks: Sequence[Task]) -> list[Node]:
        """One round from its tasks to its nodes. Raises BudgetExhausted if the budget ended it."""
        with threads(self._plan.writers, "slot") as pool:
            nodes = self._search.play(tasks, pool)
        if self._search.runner.exhausted:
            raise BudgetExhausted(self._search.runner.exhausted)
        return nodes

    def begin(self, task: Task) -> Attempt:
        """An attempt to be led stage by stage, with `run_stage`."""
        return self._search.begin(task)[0]

    def run_stage(self, attempt: Attempt, stage: str) -> str:
        """Do one stage and store it; its result as text."""
        return self._by_hand.run(attempt, stage)
