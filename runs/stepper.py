"""Stepper: runs one node's stages one by one, and keeps what it has done where the next step finds it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.contracts import STAGES, Proposal
from core.events import NodeCommitted
from core.loop.stages import IN_ORDER
from core.state.node import Node
from core.state.operators import Operator
from core.state.task import Task
from core.storage.held import WAITING
from core.storage.reader import RunReader
from reports.named_node import numbered_id
from runs.ending.outcome import write_solution
from runs.ending.process_end import stays_ended
from runs.parts.operators import written_operator
from runs.recorded.files import BEST, record_files
from runs.recorded.kept_stages import AGAIN, SINCE, kept_stages
from runs.session import RunSession
from utils.counts import counted
from utils.errors import ConfigError


@dataclass(frozen=True, slots=True)
class StepBegun:
    """Which task is worked on."""

    run: str
    task: Task
    steps: int
    """Steps of the run before this one."""


@dataclass(frozen=True, slots=True)
class StageShown:
    """One stage is done."""

    stage: str
    text: str
    """Its result: the prompt, the reply, the code, or the verdict. Untrusted text."""
    stored_before: bool
    """True if an earlier command had done it."""


class Stepper:
    """One step of a run that this process holds."""

    def __init__(self, session: RunSession) -> None:
        self._session = session
        self._store = session.store
        self._orchestrator = session.search.orchestrator

    def step(
        self, node_id: str | None, operator: Operator | None, since: str | None, until: str | None
    ) -> Iterator[StepBegun | StageShown | NodeCommitted]:
        """Do the stages from `since` to `until`, the whole step without `until`; yields what is done, as it is done.

        Raises:
            ConfigError: no such node, or nothing to start from.
        """
        session = self._session
        session.score_seeds()
        task = self._task(node_id, operator, since)
        stages = self._store.stages(task.node_id)
        yield StepBegun(session.facts.run, task, session.search.journal.steps)
        if until in (None, "review"):
            nodes = self._orchestrator.play([task])
            self._save_best()
            yield from map(self._event, nodes)
            return
        yield from self._partial(task, STAGES[1 : STAGES.index(until) + 1], stages)
        self._pause()

    @property
    def opens_again(self) -> bool:
        """True if the run has had an end with a winner, which stands no longer: a node was added."""
        return bool((self._store.get_fact("final") or {}).get("node_id")) and not self.stays_ended

    @property
    def stays_ended(self) -> bool:
        """True while a run that this process found ended has got no further node."""
        return self._session.ended_with == len(self._session.search.journal)

    def _pause(self) -> None:
        """The run waits for the next step. One that has ended and got no node stays ended."""
        self._session.save_time()
        if self.stays_ended:
            stays_ended(self._store)
        else:
            self._store.put_fact("status", WAITING)

    def _save_best(self) -> None:
        """After a whole step: the best so far lies in best_solution/."""
        session, best = self._session, self._session.leader()
        if best is not None and best.code:
            write_solution(session.facts.problem, best, session.run_dir / BEST, session.run_dir)
            record_files(self._store)
        self._pause()

    def _task(self, node_id: str | None, operator: Operator | None, since: str | None) -> Task:
        """The open task to go on with, or a new one."""
        open_tasks = self._store.open_tasks()
        journal = self._session.search.journal
        if node_id is not None:
            node_id = self._known(node_id, open_tasks)
        if since is not None and since != "select":
            return self._again(node_id, since, open_tasks)
        if open_tasks and node_id is None and operator is None and since is None:
            return open_tasks[0]
        for task in open_tasks:
            if task.node_id == node_id:
                return task
        if node_id is None and operator is None:
            proposals = self._orchestrator.ask(1)
            if not proposals:
                raise ConfigError("the policy has nothing more to propose; name --operator, or raise its own limit")
            return self._orchestrator.open_round(proposals, by_hand=True)[0]
        proposal = self._proposal(journal[node_id] if node_id else None, operator)
        return self._orchestrator.open_round([proposal], by_hand=True)[0]

    def _known(self, name: str, open_tasks: list[Task]) -> str:
        """The id of a node by the name that `named_node` takes, or of what is open."""
        with RunReader(self._session.run_dir) as reader:
            prefix = numbered_id(reader, name) or name
        journal = self._session.search.journal
        ids = [node.id for node in journal] + [task.node_id for task in open_tasks]
        found = [known for known in ids if known.startswith(prefix)]
        if len(found) != 1:
            raise ConfigError(f"--node {name}: {counted(len(found), 'node')} of the run begin so; give a whole id")
        return found[0]

    def _proposal(self, parent: Node | None, operator: Operator | None) -> Proposal:
        asked = operator or ("draft" if parent is None else "debug" if parent.is_buggy else "improve")
        wanted = written_operator(self._session.config, asked).parents
        why = {"rule": "asked for on the command line"}
        if not wanted:
            return Proposal(operator=asked, why=why)
        best = parent or self._session.search.journal.get_best_node(only_good=False)
        if best is None:
            raise ConfigError(f"--operator {asked}: the run has no node to start from")
        others = [node.id for node in self._session.search.journal.top(3) if node.id != best.id]
        if wanted > 1 and not others:
            raise ConfigError(f"--operator {asked}: the run has no second good node")
        return Proposal(operator=asked, parents=(best.id, *others)[:wanted], why=why)

    def _again(self, node_id: str | None, since: str, open_tasks: list[Task]) -> Task:
        """A task whose stages before `since` are another node's: an open one's own, or a copy of a committed one's."""
        for task in open_tasks:
            if node_id in (None, task.node_id):
                self._store.drop_stages(task.node_id, IN_ORDER[IN_ORDER.index(since) :])
                return task
        journal = self._session.search.journal
        source = journal[node_id] if node_id else next(iter(journal.latest(1)), None)
        if source is None:
            raise ConfigError(f"--from {since}: the run has no node yet")
        proposal = Proposal(
            operator=source.operator,
            parents=source.parent_ids,
            generation=source.generation,
            island=source.island,
            why={"rule": f"node {source.id} again from stage {since}", AGAIN: source.id, SINCE: since},
        )
        kept = kept_stages(source, self._store.calls(source.id), since)
        return self._orchestrator.open_round([proposal], by_hand=True, stages=[kept])[0]

    def _partial(self, task: Task, wanted: tuple[str, ...], stored: dict[str, Any]) -> Iterator[StageShown]:
        attempt = self._orchestrator.begin(task)
        for stage in wanted:
            text = self._orchestrator.run_stage(attempt, stage)
            yield StageShown(stage, text, stage in stored)

    def _event(self, node: Node) -> NodeCommitted:
        return next(event for event in reversed(self._store.committed_events()) if event.node_id == node.id)
