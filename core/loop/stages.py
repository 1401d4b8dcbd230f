"""Stages: the life of one node: select, prompt, reply, code, execute, review.

A prompt follows from the journal, a reply is in the record of calls, code follows from the reply; so the verdict is the
only stage that has to be stored on the way. What is stored is never done again: this is how a run is resumed, and how
`step --until` and `--from` go on from any stage.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from core.contracts import (
    CONFIRM,
    STAGES,
    Agent,
    AgentContext,
    AgentResult,
    Evaluation,
    Evaluator,
    Prompt,
    Query,
    Reviewer,
    Store,
    Toolbox,
)
from core.events import Event, StageDone
from core.loop.attempt import Attempt, RoundContext, RunContext, Usage
from core.loop.commit_events import tournament_of
from core.loop.crash_repair import may_be_repaired, repaired
from core.loop.finished_node import finished_node
from core.state.change import is_rounding
from core.state.failure import FailureKind
from core.state.findings import TournamentResult
from core.state.journal import Journal
from core.state.node import Node
from core.state.noise import deviation_of
from core.state.operators import FREE_OPERATORS
from core.state.task import Task
from utils.errors import BudgetExhausted, JobLost, ReplyError

T = TypeVar("T")

EXECUTE_AGAIN = "execute again"
"""The stage of a program that was repaired in the same step."""
IN_ORDER = (*STAGES[:-1], EXECUTE_AGAIN, CONFIRM, STAGES[-1])
"""Every stage that may be stored, in the order in which a node comes to it."""
TOURNAMENTS_CONSIDERED = 256
"""Of the newest nodes, so many are looked at for the last tournament: those that were refused have played in none."""
TELL_DEVIATION = 20
"""Of so many of the best nodes, those that were scored several times tell how far the scores of a program lie apart."""
CHILDREN_CONSIDERED = 40
"""Of a parent's newest children."""
OTHERS_CONSIDERED = 16
"""Of the best nodes, so many are looked at for programs that a prompt shows beside the parents."""


class Stages:
    """Takes tasks through their stages. Thread-safe: each call works on one Attempt.

    Args:
        agents: by operator; `*` for all others.
        bind: (role, node id) → Query.
        usage: node id → what its calls used.
        recall: has the stored calls of a node counted in its `usage`, where nothing is asked since a reply is stored.
        toolbox: what a proposal's writer may look at before it writes.
        clock: seconds from any start, for what is told of each stage. Nothing is decided by it.
        on_stage: hears (node id, the stage that begins now; '': it is over), for viewers.
    """

    def __init__(
        self,
        *,
        agents: Mapping[str, Agent],
        reviewer: Reviewer | None,
        evaluator: Evaluator,
        store: Store,
        journal: Journal,
        run_context: RunContext,
        bind: Callable[[str, str], Query],
        usage: Callable[[str], Usage],
        recall: Callable[[str], None] = lambda node_id: None,
        toolbox: Callable[[Task, Sequence[Node]], Toolbox | None] = lambda task, parents: None,
        clock: Callable[[], float] = time.perf_counter,
        on_stage: Callable[[str, str], None] = lambda node_id, name: None,
    ) -> None:
        self._agents = agents
        self._reviewer = reviewer
        self._evaluator = evaluator
        self._store = store
        self._journal = journal
        self._run_context = run_context
        self._bind = bind
        self._usage = usage
        self._recall = recall
        self._toolbox = toolbox
        self._clock = clock
        self._on_stage = on_stage

    # ------------------------------------------------------------ before it runs

    def agent(self, operator: str) -> Agent:
        """Who writes the programs of an operator."""
        return self._agents.get(operator) or self._agents["*"]

    def told(self, round_: int) -> RunContext:
        """What holds for the writers of that round."""
        return self._run_context.as_of(round_)

    def begin(
        self, task: Task, notes: RoundContext, refusal: str = "", parents: tuple[Node, ...] | None = None
    ) -> Attempt:
        """Gather what the writer may know."""
        run_context = self.told(task.round)
        memory = notes.memory(task)
        above = parents if parents is not None else tuple(self._journal[i] for i in task.parent_ids)
        context = AgentContext(
            task=task,
            statement=run_context.statement,
            parents=above,
            query=self._bind(run_context.operator(task.operator).role, task.node_id),
            preview=run_context.preview,
            memory=memory.text,
            remembered=memory.programs,
            packages=run_context.packages,
            limits=run_context.limits,
            time_limit=run_context.time_limit,
            references=run_context.references(),
            claims_only=run_context.claims_only,
            writers=run_context.writers,
            ideas=run_context.ideas,
            grandparents=tuple(self._above(above)),
            better_children=tuple(self._better_children(above)),
            others=tuple(self._others(task, above)),
            tournament=self._newest_tournament(above),
            notes=notes.notes,
            steps_left=notes.steps_left,
            generations_left=run_context.generations_left(task),
            deviation=deviation_of(self._journal.top(TELL_DEVIATION)),
            lower_is_better=run_context.lower_is_better,
            shared=notes.shared,
            refusal=refusal,
            toolbox=self._toolbox(task, above),
            extras=run_context.extras,
        )
        return Attempt(task, context)

    def _above(self, parents: tuple[Node, ...]) -> Iterator[Node]:
        """The first parents of `parents`; a refused program that is repaired again is in no journal yet."""
        found = (self._journal.get_node_by_id(node.parent_id) for node in parents if node.parent_id)
        return (node for node in found if node is not None)

    def _better_children(self, parents: tuple[Node, ...]) -> Iterator[Node]:
        """The best child of each parent that beats it: a writer who is not told would write it once more."""
        for parent in parents:
            if not parent.is_scored or parent.tournament is not None or parent.id not in self._journal:
                continue  # ratings of two tournaments are no scores that can be compared
            newest = islice(reversed(self._journal.children_ids(parent.id)), CHILDREN_CONSIDERED)
            scored = [child for child in map(self._journal.__getitem__, newest) if child.is_scored]
            best = max(scored, key=lambda child: (child.fitness or 0.0, -child.step), default=None)
            if best is not None and (best.fitness or 0.0) > (parent.fitness or 0.0):
                yield best

    def _newest_tournament(self, parents: tuple[Node, ...]) -> TournamentResult | None:
        known = parents[0].tournament if parents else None
        newest = self._journal.newest(TOURNAMENTS_CONSIDERED) if known is not None else ()
        return next((node.tournament for node in newest if node.tournament is not None), known)

    def _others(self, task: Task, parents: tuple[Node, ...]) -> Iterator[Node]:
        """The best programs beside the parents, each score once up to rounding; on an island those that live there."""
        known = [node.metric_value for node in parents if node.metric_value is not None]
        last: list[float] = []
        for node in self._journal.top(OTHERS_CONSIDERED):  # in order: of those before it only the last can be as good
            at_home = task.island is None or node.island in (None, task.island)
            score = node.metric_value
            if at_home and score is not None and not any(is_rounding(score, other) for other in (*known, *last)):
                last = [score]
                yield node

    def write(self, attempt: Attempt) -> None:
        """prompt → reply → code. A candidate that cannot be read gets its verdict here."""
        task = attempt.task
        if task.operator == "tune":
            attempt.node = self._blank(task).model_copy(
                update={"code": attempt.context.parents[0].code, "writer": "tune"}
            )
            return
        try:
            result = self._written(attempt)
        except ReplyError as error:
            result = AgentResult(None, False, str(error), FailureKind.REPLY_ERROR)
        attempt.node = result.node or self._blank(task)
        if not result.success:
            attempt.verdict = _without_program(result)

    def _written(self, attempt: Attempt) -> AgentResult:
        agent, context = self.agent(attempt.task.operator), attempt.context
        stored = self._store.stages(attempt.task.node_id)
        if "code" in stored or "reply" in stored:
            self._recall(attempt.task.node_id)
        if "code" in stored:
            return AgentResult(self._blank(attempt.task).model_copy(update=stored["code"]), True)
        prompt = self._stage(attempt, "prompt", lambda: prompt_of(stored, agent, context))
        known = stored_reply(stored)
        reply = self._stage(attempt, "reply", lambda: agent.reply(context, prompt) if known is None else known)
        result = self._stage(attempt, "code", lambda: agent.code(context, reply))
        writer = stored.get("reply", {}).get("writer")  # of the node whose reply this one takes over
        if not writer or result.node is None:
            return result
        return replace(result, node=result.node.model_copy(update={"writer": writer}))

    def read(self, reply: str, start: str) -> AgentResult:
        """What a reply comes to, as `code` reads it: nothing is asked, stored or run.

        Args:
            start: the program that it changes; '' for none.
        """
        task = Task(node_id="", operator="improve" if start else "draft", round=0, slot=0, seed=0)
        context = AgentContext(
            task=task,
            statement=self._run_context.statement,
            parents=(Node(id="", code=start),) if start else (),
            query=self._bind("code", ""),
            lower_is_better=self._run_context.lower_is_better,
            extras=self._run_context.extras,
        )
        return self.agent(task.operator).code(context, reply)

    def _blank(self, task: Task) -> Node:
        return Node(
            id=task.node_id,
            code="",
            operator=task.operator,
            parent_ids=task.parent_ids,
            generation=task.generation,
            island=task.island,
            slot=task.slot,
            task_type=task.task_type,
        )

    def _stage(self, attempt: Attempt, name: str, work: Callable[[], T]) -> T:
        started = self._clock()
        try:
            with self.under_way(name, attempt.task.node_id):
                return work()
        finally:
            attempt.seconds[name] = round(self._clock() - started, 4)

    @contextmanager
    def under_way(self, name: str, *node_ids: str) -> Iterator[None]:
        """Tell that a stage of these nodes begins, and at the end that it is over."""
        for node_id in node_ids:
            self._on_stage(node_id, name)
        try:
            yield
        finally:
            for node_id in node_ids:
                self._on_stage(node_id, "")

    def keep(self, attempt: Attempt, stage: str, payload: dict[str, Any], events: Sequence[Event] = ()) -> None:
        """Store what a stage came to, and tell that it is over."""
        node_id = attempt.task.node_id
        done = StageDone(node_id=node_id, stage=stage, seconds=attempt.seconds.get(stage, 0.0))
        self._store.save_stage(node_id, stage, payload, [done, *events])

    # ------------------------------------------------------------ the verdict

    def check(self, attempt: Attempt) -> None:
        """What the evaluator refuses without running it gets its verdict here."""
        assert attempt.node is not None
        refused = None if attempt.node is attempt.passed else self._evaluator.check(attempt.node)
        if refused is not None:
            attempt.verdict = refused.model_copy(update={"refused_by": refused.refused_by or "check"})
        if attempt.task.repairs == 0 and self._repair(attempt):
            self.check(attempt)

    def execute(self, attempt: Attempt) -> None:
        """Judge one node alone, and once more where it crashed and was repaired; each verdict is stored at once."""
        self._execute(attempt, "execute" if attempt.repaired_from is None else EXECUTE_AGAIN)
        if self._repair(attempt):
            self.check(attempt)
            if attempt.is_alive:
                self._execute(attempt, EXECUTE_AGAIN)

    def _repair(self, attempt: Attempt) -> bool:
        """True if the program failed, and its writer gave another one, which has no verdict yet."""
        if not (self.told(attempt.task.round).repair_crashes and may_be_repaired(attempt)):
            return False
        agent = self.agent(attempt.task.operator)
        return self._stage(attempt, "repair", lambda: repaired(attempt, agent, self.finished(attempt)))

    def _execute(self, attempt: Attempt, name: str) -> None:
        assert attempt.node is not None
        node_id = attempt.task.node_id
        stored = self._store.stages(node_id).get(name)
        if stored is not None:
            attempt.verdict = Evaluation.model_validate(stored)
            return
        node = attempt.node

        def work() -> Evaluation:
            try:
                if attempt.task.operator == "tune":
                    return self._evaluator.tune(node, node_id, attempt.task.seed)
                return self._evaluator.evaluate([node])[0]
            except JobLost as error:
                return Evaluation.of_lost(error)

        attempt.verdict = self._stage(attempt, name, work)
        if self._evaluator.together and attempt.task.operator != "tune":  # as of a round: the verdict says what is told
            attempt.seconds[name] = attempt.verdict.seconds
        told = tournament_of([attempt.verdict], attempt.task.generation)
        self.keep(attempt, name, attempt.verdict.model_dump(mode="json"), told)

    def confirm(self, attempt: Attempt) -> None:
        """Let the evaluator look once more at a node that is committed next; what it found is stored at once."""
        node, verdict = attempt.node, attempt.verdict
        if node is None or verdict is None or verdict.metric is None or node.operator in FREE_OPERATORS:
            return
        if not self._evaluator.doubts(verdict):
            return
        stored = self._store.stages(node.id).get(CONFIRM)
        if stored is not None:
            attempt.verdict = Evaluation.model_validate(stored)
            return
        started = self._clock()
        try:
            with self.under_way(CONFIRM, node.id):
                scored = node if verdict.code is None else node.model_copy(update={"code": verdict.code})
                found = self._evaluator.confirm(scored, verdict)
        except (BudgetExhausted, JobLost):  # the first look stands
            return
        if found is not None:
            attempt.verdict = found
            attempt.seconds[CONFIRM] = round(self._clock() - started, 4)
            self.keep(attempt, CONFIRM, found.model_dump(mode="json"))

    def wants_review(self, attempt: Attempt) -> bool:
        """`auto`: what ran, where the reviewer's reading is its score; an evaluator speaks for itself.

        What nobody of the search wrote is read for its score alone.
        """
        verdict, run_context = attempt.verdict, self.told(attempt.task.round)
        if self._reviewer is None or verdict is None or run_context.review == "never":
            return False
        if verdict.duplicate_of or verdict.nothing_left:
            return False
        if run_context.review == "always" and attempt.task.operator not in FREE_OPERATORS:
            return verdict.failure not in (FailureKind.NO_CODE, FailureKind.REPLY_ERROR)
        return self.is_scored_by_review(attempt)

    def is_scored_by_review(self, attempt: Attempt) -> bool:
        """True where the reviewer's reading is the score of what ran: without it there is no verdict."""
        return self._run_context.claims_only and attempt.verdict is not None and attempt.verdict.failure is None

    def reviewed(self, attempt: Attempt) -> None:
        """Ask the reviewer; a reply that cannot be read leaves the node without a review."""
        assert self._reviewer is not None
        reviewer, usage = self._reviewer, self._usage(attempt.task.node_id)
        node = finished_node(attempt, self._run_context, usage, reviewed=False)
        context = replace(attempt.context, query=self._bind("feedback", attempt.task.node_id))
        try:
            attempt.review = self._stage(attempt, "review", lambda: reviewer.review(context, node))
        except ReplyError as error:
            attempt.review_error = str(error)

    def finished(self, attempt: Attempt) -> Node:
        """The node as it goes into the journal."""
        return finished_node(attempt, self._run_context, self._usage(attempt.task.node_id))


def _without_program(result: AgentResult) -> Evaluation:
    """The verdict on a reply that holds none."""
    if result.nothing_left:
        why = f": {result.error}" if result.error else ""
        return Evaluation(nothing_left=True, message=f"its writer says that nothing is left to gain{why}")
    return Evaluation(failure=result.failure or FailureKind.REPLY_ERROR, message=result.error)


def prompt_of(stages: Mapping[str, Mapping[str, Any]], agent: Agent, context: AgentContext) -> Prompt:
    """The prompt that `step --until prompt` left, or a new one. Of one that another node was written from the words are
    kept; the facts, from which `rules` and writers outside begin, are the new node's.
    """
    found = stages.get("prompt")
    if found is None:
        return agent.prompt(context)
    return Prompt(found["system"], found["user"], found.get("context") or agent.prompt(context).context)


def stored_reply(stages: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The reply that `step --until reply` left, or None."""
    found = stages.get("reply")
    return str(found["text"]) if found else None
