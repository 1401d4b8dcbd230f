"""Search: a search that is put together, and what the process that runs it brings along."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from core.backend.model_client import ModelClient
from core.contracts import CallRecord, Evaluator, EvaluatorDeps, Problem
from core.events import NodeMarked
from core.loop.orchestrator import Orchestrator
from core.state.journal import Journal
from core.state.task import Task
from core.storage.repository import RunStore
from runs.beginning.selftest import SelfTest
from runs.beside.live_output import LiveOutput
from runs.interrupts import Interrupts
from runs.parts.deadline import Deadline
from runs.parts.workers import SandboxAhead
from runs.recorded.rules_version import RecordedRules
from runs.recorded.scores import RecordedScores
from runs.tickets.files import ProgramFiles
from runs.tickets.queue import TicketQueue
from utils.config_schema import Config


@dataclass(frozen=True, slots=True)
class Recorded:
    """Answers of an earlier run, in place of models: nothing is asked."""

    calls: Sequence[CallRecord]
    match: Literal["exact", "sample"] = "exact"
    stopped: Sequence[str] = ()
    """Nodes whose programs the user stopped: they are not run."""
    withdrawn: Sequence[str] = ()
    """Proposals that nobody wrote: `runs.control.withdrawn_nodes`."""
    dropped: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """`runs.control.dropped_nodes`."""
    cut: Collection[str] = ()
    """Proposals that the budget's end cut off while they were under way: they are cut off again."""
    asked: Mapping[int, Task] = field(default_factory=dict)
    """Round → its first task, where the choices are made again: `Plan.asked`."""
    scores: RecordedScores | None = None
    """Verdicts of the record, from which the search goes on; None: from those of now."""
    told: Sequence[Mapping[str, Any]] = ()
    """What prompts told, as `runs.parts.context_history` keeps it."""
    baselines_told: Sequence[str] | None = None
    """Names of the baselines that prompts told; None: all."""
    rules: RecordedRules | None = None
    """What `rules` wrote, where another version of them did."""
    marks: Sequence[tuple[int, NodeMarked]] = ()
    """(round, mark): what the user pinned, banned and freed before that round was asked for."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process's work on one run, as the parts of a search see it."""

    run_dir: Path
    store: RunStore
    interrupts: Interrupts
    active_seconds: Callable[[], float]
    """→ seconds the run has been worked on, all its processes added up."""
    accept_unsandboxed: bool = False
    recorded: Recorded | None = None
    tickets: TicketQueue | None = None
    """Hands proposals to writers outside; None where nobody outside writes."""
    doing: Callable[[str], None] = lambda text: None
    """Tells whoever watches what goes on besides the search."""
    control_begun: int = 0
    """Bytes of the control file when this process began."""
    stop_after: int | None = None
    """End after so many steps, without telling the writers: for a replay."""
    sandbox: SandboxAhead | None = None
    """The sandbox of this machine, where its opening has begun already."""
    awake: Callable[[], float] = time.monotonic
    """→ seconds in which this process ran."""


@dataclass(slots=True)
class Search:
    """A search, put together by `runs.composition.compose`."""

    config: Config
    problem: Problem
    store: RunStore
    journal: Journal
    evaluator: Evaluator
    model_client: ModelClient
    orchestrator: Orchestrator
    deps: EvaluatorDeps
    files: ProgramFiles
    """Programs as writers outside see them."""
    sandbox_tier: str
    live: LiveOutput
    deadline: Deadline
    told: list[dict[str, Any]]
    """What prompts tell, to be stored as the fact `told`."""
    rules_version: list[dict[str, Any]]
    """To be stored as the fact of `runs.recorded.rules_version`."""
    self_test: SelfTest | None
    """None where there is no sandbox to search."""
    parts: ExitStack
    """Closes every part, in the reverse order of making."""

    def close(self) -> None:
        """End what runs and let go of everything that was opened."""
        self.parts.close()
