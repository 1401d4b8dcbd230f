"""The life of one node: select, prompt, reply, code, execute, review.

A prompt follows from the journal, a reply is in the record of calls, code follows from the reply; so the verdict is the
only stage that has to be stored on the way. What is stored is never done again: this is how a run is resumed, and how
`step --until` and `--from` go on from any stage.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from core.contracts import (
    Agent,
    AgentContext,
    AgentResult,
    Evaluation,
    Evaluator,
    Prompt,
    Query,
    Review,
    Reviewer,
    Store,
)
from core.events import StageDone
from core.finished_node import finished_node
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from core.state.task import Task
from utils.errors import JobLost, ReplyError

T = TypeVar("T")

WORTH_TELLING_SECONDS = 0.05
"""A stage that took less is not told as an event of its own: at 100 candidates a second nobody could read it."""


class Usage(Protocol):
    """What a node's calls used, all roles together. Tokens and dollars are None where there is no model (`rules`)."""

    @property
    def writer(self) -> str: ...

    @property
    def prompt_tokens(self) -> int | None: ...

    @property
    def completion_tokens(self) -> int | None: ...

    @property
    def cost_usd(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Brief:
    """What every writer of the run is told: constant over the run."""

    statement: str
    preview: str = ""
    packages: str = ""
    extras: Mapping[str, Any] = field(default_factory=dict)
    lower_is_better: bool = False
    claims_only: bool = False
    """There is no evaluator's score: the reviewer's reading is the metric."""
    isolated: bool = True
    """Candidates run in a sandbox; else every score is `unisolated`."""
    review: str = "auto"
    """`auto`, `always` or `never`."""


@dataclass(frozen=True, slots=True)
class RoundNotes:
    """What the writers of one round are told beside the brief: fixed when the round opens."""

    memory: Callable[[Task], str]
    steps_left: int | None = None
    notes: tuple[str, ...] = ()
    shared: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Life:
    """A node on its way: filled stage by stage."""

    task: Task
    context: AgentContext
    node: Node | None = None
    verdict: Evaluation | None = None
    review: Review | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def is_alive(self) -> bool:
        """Written, and nothing has judged it yet."""
        return self.node is not None and self.verdict is None


class NodeLife:
    """Takes tasks through their stages. Thread-safe: each call works on one Life.

    Args:
        agents: by operator; `*` for all others.
        bind: (role, node id) → Query.
        usage: node id → what its calls used.
    """

    def __init__(
        self,
        *,
        agents: Mapping[str, Agent],
        reviewer: Reviewer | None,
        evaluator: Evaluator,
        store: Store,
        journal: Journal,
        brief: Brief,
        bind: Callable[[str, str], Query],
        usage: Callable[[str], Usage],
    ) -> None:
        self._agents = agents
        self._reviewer = reviewer
        self._evaluator = evaluator
        self._store = store
        self._journal = journal
        self._brief = brief
        self._bind = bind
        self._usage = usage

    # ------------------------------------------------------------ before it runs

    def agent(self, operator: str) -> Agent:
        return self._agents.get(operator) or self._agents["*"]

    def begin(self, task: Task, notes: RoundNotes, refusal: str = "", parents: tuple[Node, ...] | None = None) -> Life:
        """Gather what the writer may know."""
        brief = self._brief
        role = "refine" if task.operator == "refine" else "code"
        context = AgentContext(
            task=task,
            statement=brief.statement,
            parents=parents if parents is not None else tuple(self._journal[i] for i in task.parent_ids),
            query=self._bind(role, task.node_id),
            preview=brief.preview,
            memory=notes.memory(task),
            packages=brief.packages,
            notes=notes.notes,
            steps_left=notes.steps_left,
            lower_is_better=brief.lower_is_better,
            shared=notes.shared,
            refusal=refusal,
            extras=brief.extras,
        )
        return Life(task, context)

    def write(self, life: Life) -> None:
        """prompt → reply → code. A candidate that cannot be read gets its verdict here."""
        task = life.task
        if task.operator == "tune":
            life.node = self._blank(task).model_copy(update={"code": life.context.parents[0].code, "writer": "tune"})
            return
        try:
            result = self._written(life)
        except ReplyError as error:
            result = AgentResult(None, False, str(error), FailureKind.REPLY_ERROR)
        life.node = result.node or self._blank(task)
        if not result.success:
            life.verdict = Evaluation(failure=result.failure or FailureKind.REPLY_ERROR, message=result.error)

    def _written(self, life: Life) -> AgentResult:
        agent, context = self.agent(life.task.operator), life.context
        stored = self._store.stages(life.task.node_id)
        if "code" in stored:
            return AgentResult(self._blank(life.task).model_copy(update=stored["code"]), True)
        prompt = self._stage(life, "prompt", lambda: stored_prompt(stored) or agent.prompt(context))
        known = stored_reply(stored)
        reply = self._stage(life, "reply", lambda: agent.reply(context, prompt) if known is None else known)
        return self._stage(life, "code", lambda: agent.code(context, reply))

    def run_stage(self, life: Life, stage: str) -> str:
        """Do one stage of a life that is led by hand, store its result for the next command, return it as text."""
        agent, context, node_id = self.agent(life.task.operator), life.context, life.task.node_id
        stored = self._store.stages(node_id)
        prompt = stored_prompt(stored)
        if stage == "prompt":
            prompt = prompt or agent.prompt(context)
            self._store.save_stage(
                node_id, stage, {"system": prompt.system, "user": prompt.user, "context": dict(prompt.context)}
            )
            return f"{prompt.system}\n\n{prompt.user}"
        if stage == "reply":
            known = stored_reply(stored)
            reply = agent.reply(context, prompt or agent.prompt(context)) if known is None else known
            self._store.save_stage(node_id, stage, {"text": reply})
            return reply
        if stage == "code":
            self.write(life)
            assert life.node is not None
            if life.verdict is not None:
                return f"{life.verdict.failure}: {life.verdict.message}"
            code = {"code": life.node.code, "plan": life.node.plan, "genes": life.node.genes}
            self._store.save_stage(node_id, stage, code)
            return life.node.code
        if life.is_alive:
            self.execute(life)
        verdict = life.verdict
        if verdict is None:
            return ""
        score = (
            f"metric {verdict.metric:.6g}" if verdict.metric is not None else f"{verdict.failure}: {verdict.message}"
        )
        return f"{verdict.term_out}\n{score}"

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

    def _stage(self, life: Life, name: str, work: Callable[[], T]) -> T:
        started = time.perf_counter()
        try:
            return work()
        finally:
            seconds = time.perf_counter() - started
            life.seconds[name] = round(seconds, 6)
            if seconds >= WORTH_TELLING_SECONDS:
                self._store.append([StageDone(node_id=life.task.node_id, stage=name, seconds=seconds)])

    # ------------------------------------------------------------ the verdict

    def check(self, life: Life) -> None:
        """The gate before evaluation."""
        assert life.node is not None
        refused = self._evaluator.check(life.node)
        if refused is not None:
            gate = refused.metadata.get("gate", "check")
            life.verdict = refused.model_copy(update={"metadata": {**refused.metadata, "gate": gate}})

    def execute(self, life: Life) -> None:
        """Judge one node alone; the verdict is stored at once."""
        assert life.node is not None
        node_id = life.task.node_id
        stored = self._store.stages(node_id).get("execute")
        if stored is not None:
            life.verdict = Evaluation.model_validate(stored)
            return
        node = life.node

        def work() -> Evaluation:
            try:
                if life.task.operator == "tune":
                    return self._evaluator.tune(node, node_id, life.task.seed)
                return self._evaluator.evaluate([node])[0]
            except JobLost as error:
                return Evaluation(failure=FailureKind(error.failure), message=str(error))

        life.verdict = self._stage(life, "execute", work)
        self._store.save_stage(node_id, "execute", life.verdict.model_dump(mode="json"))

    def wants_review(self, life: Life, best_fitness: float | None) -> bool:
        """`auto` reviews what failed by running, what is only claimed, and what would be the best so far."""
        if self._reviewer is None or life.verdict is None or self._brief.review == "never" or life.verdict.duplicate_of:
            return False
        if self._brief.claims_only or self._brief.review == "always":
            return True
        if life.verdict.failure in (FailureKind.NO_CODE, FailureKind.REPLY_ERROR):
            return False
        fitness = self.fitness(life.verdict)
        return life.verdict.failure is not None or (
            fitness is not None and (best_fitness is None or fitness > best_fitness)
        )

    def fitness(self, verdict: Evaluation) -> float | None:
        """The metric turned so that higher is better."""
        if verdict.metric is None or not math.isfinite(verdict.metric):
            return None
        return -verdict.metric if self._brief.lower_is_better else verdict.metric

    def reviewed(self, life: Life) -> None:
        """Ask the reviewer; a reply that cannot be read leaves the node without a review."""
        assert self._reviewer is not None
        reviewer, node = self._reviewer, self.finished(life)
        context = replace(life.context, query=self._bind("feedback", life.task.node_id))
        try:
            life.review = self._stage(life, "review", lambda: reviewer.review(context, node))
        except ReplyError as error:
            life.seconds["review_failed"] = 0.0
            node.metadata["review_error"] = str(error)

    def finished(self, life: Life) -> Node:
        """The node as it goes into the journal."""
        return finished_node(life, self._brief, self._usage(life.task.node_id))


def stored_prompt(stages: Mapping[str, Mapping[str, Any]]) -> Prompt | None:
    """The prompt that `step --until prompt` left, or None."""
    found = stages.get("prompt")
    return Prompt(found["system"], found["user"], found["context"]) if found else None


def stored_reply(stages: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The reply that `step --until reply` left, or None."""
    found = stages.get("reply")
    return str(found["text"]) if found else None
