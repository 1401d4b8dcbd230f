"""The loop without a command line: orchestrator, store and `rules` round the toy problem, in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from support.plugins.toy import ToyEvaluator, ToyWriter

from agents.coder_agent import CoderAgent
from core.backend.model_client import ModelClient
from core.backend.roles import model_settings
from core.contracts import Evaluator, EvaluatorDefaults, SearchPolicy, with_defaults
from core.loop.attempt import RunContext
from core.loop.orchestrator import Orchestrator
from core.loop.plan import Control, Plan
from core.loop.schedules import schedule_of
from core.loop.stages import Stages
from core.search.stopping import stopping
from core.search.three_phase import ThreePhaseOptions, ThreePhasePolicy
from core.state.journal import Journal
from core.state.memory import remember
from core.state.task import Task
from core.storage.repository import RunStore
from utils.config_llm import LLMConfig

Wrapper = Callable[[RunStore], Any]


@dataclass
class Loop:
    """A run in a folder; a second one in the same folder is its resume."""

    orchestrator: Orchestrator
    store: RunStore
    journal: Journal
    model_client: ModelClient

    def run(self) -> str:
        try:
            self.orchestrator.restore()
            return self.orchestrator.run()
        finally:
            self.close()

    def close(self) -> None:
        self.model_client.close()
        self.store.close()


def open_loop(
    folder: Path,
    *,
    steps: int | None = 12,
    batch: int = 2,
    writers: int = 4,
    schedule: str = "rounds",
    seed: int = 1,
    policy: SearchPolicy | None = None,
    evaluator: Evaluator | None = None,
    wrap: Wrapper = lambda store: store,
    writer: Any = None,
    control: Control | None = None,
    stop: Callable[..., str | None] | None = None,
    reviewer: Any = None,
    clock: Callable[[], float] = time.perf_counter,
    claims_only: bool = False,
    review: str = "auto",
    repair_crashes: bool = False,
    ideas: int = 0,
    asked: Mapping[int, Task] | None = None,
    delay: float = 0.0,
    remembers: str = "all",
    external: Any = None,
) -> Loop:
    """Put a run together. `wrap` stands between the loop and its store."""
    store = RunStore(folder, delay=delay)
    seen = wrap(store)
    judge: Evaluator = with_defaults(evaluator or ToyEvaluator(), EvaluatorDefaults)
    journal = Journal(lower_is_better=True)
    roles = model_settings(LLMConfig.model_validate({"code": {"provider": "external" if external else "rules"}}))
    model_client = ModelClient(roles, log=seen, rules=writer or ToyWriter(), run_seed=seed, external=external)
    stages = Stages(
        agents={"*": CoderAgent(single_function=True)},
        reviewer=reviewer,
        evaluator=judge,
        store=seen,
        journal=journal,
        run_context=RunContext(
            statement="Find x near 2.",
            lower_is_better=True,
            claims_only=claims_only,
            review=review,
            repair_crashes=repair_crashes,
            writers=ideas or 1,
            batch=batch,
            sharing=1 if schedule_of(schedule).whole_rounds or judge.together else batch,
            ideas=ideas,
        ),
        bind=model_client.bind,
        usage=model_client.usage_of,
        clock=clock,
    )
    orchestrator = Orchestrator(
        plan=Plan(seed=seed, max_steps=steps, writers=writers, asked=asked or {}),
        schedule=schedule_of(schedule)(),
        policy=policy or ThreePhasePolicy(ThreePhaseOptions(num_drafts=3)),
        stages=stages,
        evaluator=judge,
        store=seen,
        journal=journal,
        stop=stop or stopping(max_steps=steps).reason,
        spent=lambda: (model_client.ledger.spent.tokens, model_client.ledger.spent.usd),
        active_seconds=lambda: 0.0,
        memory=lambda journal, task: remember(journal, task.parent_ids, kind=remembers, code_tokens=6000),
        usage=model_client.usage_of,
        control=control,
    )
    return Loop(orchestrator, store, journal, model_client)


class Crash(BaseException):
    """Stands for the end of the process: nothing may catch it."""


class DyingStore:
    """A store that dies at its n-th write, before it or just after it; afterwards every write dies.

    What waits for the next transaction dies with it.

    Args:
        writes: those that count.
    """

    WRITES = ("open_round", "save_stage", "save_stages", "commit", "put_fact", "append", "save_call")

    def __init__(self, store: RunStore, at: int, when: str, writes: Sequence[str] = WRITES) -> None:
        self._store, self._left, self._when, self._writes = store, at, when, writes
        self._lock = threading.Lock()
        self.writes: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return self._dying(name, found) if name in self._writes else found

    def _dying(self, name: str, write: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            with self._lock:
                self.writes.append(name)
                self._left -= 1
                if self._left < 0 or (self._left == 0 and self._when == "before"):
                    self._die(name)
                value = write(*args, **options)
                if self._left == 0:
                    self._die(name)
                return value

        return call

    def _die(self, name: str) -> NoReturn:
        self._store._waiting.clear()
        raise Crash(name)


def told(loop_nodes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """What the journal's hash is made of, readable."""
    return [(n.id, n.operator, n.parent_ids, n.code, n.metric_value, n.failure, n.is_valid) for n in loop_nodes]
