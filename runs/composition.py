"""The composition root: from a configuration to a search that can run. The only place that knows every part."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal

from core.backend.cache import ReplyCache
from core.backend.model_client import ModelClient
from core.backend.recording import RecordedCalls
from core.backend.roles import model_settings
from core.backend.usage import Ledger
from core.contracts import (
    Agent,
    AgentBuilder,
    AgentDefaults,
    CallRecord,
    Evaluator,
    EvaluatorDefaults,
    EvaluatorDeps,
    Jobs,
    Limits,
    Problem,
    Progress,
    Reviewer,
    SearchPolicy,
    with_defaults,
)
from core.loop.attempt import RunContext
from core.loop.orchestrator import Orchestrator
from core.loop.plan import Control, Plan
from core.loop.schedules import schedule_of
from core.loop.stages import Stages
from core.search.stopping import stopping
from core.state.journal import Journal
from core.state.memory import remember
from core.state.task import Task
from core.storage.repository import RunStore
from problems.registry import build_problem
from runs.control import ControlFile, StopWatch, stopped_nodes
from runs.live_output import LiveOutput
from runs.packages import installed_packages
from runs.run_folder import logs_dir
from runs.workers import open_workers, workspaces_dir
from utils.config_schema import Config


@dataclass(frozen=True, slots=True)
class Recorded:
    """Answers of an earlier run, in place of models: nothing is asked."""

    calls: Sequence[CallRecord]
    match: Literal["exact", "sample"] = "exact"
    stopped: Sequence[str] = ()
    """Nodes whose programs the user stopped: they are not run."""


@dataclass(slots=True)
class Deadline:
    """`budget.seconds` for what is under way. Lifted for the last words: the final score is owed to the user."""

    seconds: float | None
    active_seconds: Callable[[], float]
    lifted: bool = False

    def seconds_left(self) -> float:
        return math.inf if self.lifted or self.seconds is None else self.seconds - self.active_seconds()


@dataclass(slots=True)
class Search:
    """A search, put together. `close` in the reverse order of making."""

    config: Config
    problem: Problem
    store: RunStore
    journal: Journal
    evaluator: Evaluator
    model_client: ModelClient
    orchestrator: Orchestrator
    deps: EvaluatorDeps
    sandbox_tier: str
    live: LiveOutput
    deadline: Deadline
    _closers: list[Callable[[], None]]

    def close(self) -> None:
        for closer in reversed(self._closers):
            closer()


def compose(
    config: Config,
    problem: Problem,
    store: RunStore,
    *,
    run_dir: Path,
    interrupted: threading.Event,
    stop_now: threading.Event,
    active_seconds: Callable[[], float],
    accept_unsandboxed: bool = False,
    recorded: Recorded | None = None,
    stop_after: int | None = None,
) -> Search:
    """Build every part for one run. Raises ConfigError and NoSandboxError before anything runs."""
    closers: list[Callable[[], None]] = []
    journal = Journal(problem.lower_is_better, python=problem.language == "python")
    model_client = _model_client(config, problem, store, stop_now, recorded)
    closers.append(model_client.close)
    live = LiveOutput(run_dir)
    deadline = Deadline(config.budget.seconds, active_seconds)
    closers.append(live.close)
    jobs, tier = open_workers(config, problem, run_dir, accept_unsandboxed, closers, live, deadline.seconds_left)
    jobs.refuse(recorded.stopped if recorded else stopped_nodes(run_dir))
    closers.append(StopWatch(run_dir, store, jobs.stop).close)
    deps = EvaluatorDeps(
        jobs=jobs,
        limits=limits_of(config),
        run_dir=run_dir,
        work_dir=workspaces_dir(config) / run_dir.name,
        seed=config.project.seed,
        journal=journal,
        games=store,
        append=store.append,
        isolated=tier != "none",
        extras={
            "top_k_for_full_eval": config.search.top_k_for_full_eval,
            "tune_trials": config.search.tune_trials,
            "smoke": config.search.smoke,
        },
    )
    evaluator = with_defaults(problem.evaluator(deps), EvaluatorDefaults)
    closers.append(evaluator.close)
    stages = Stages(
        agents=agents_of(config, problem),
        reviewer=reviewer_of(config),
        evaluator=evaluator,
        store=store,
        journal=journal,
        run_context=RunContext(
            statement=problem.statement(),
            preview=problem.preview(),
            packages=installed_packages(problem.preload, config.execution.python),
            extras=problem.prompt_extras(),
            lower_is_better=problem.lower_is_better,
            claims_only=problem.claims_only,
            isolated=tier != "none",
            review=config.agent.review,
        ),
        bind=model_client.bind,
        usage=model_client.usage_of,
    )
    limits = stopping(
        max_steps=config.search.max_steps,
        max_generations=config.search.max_generations,
        seconds=config.budget.seconds,
        tokens=config.budget.tokens,
        usd=config.budget.usd,
        target=config.budget.target,
        lower_is_better=problem.lower_is_better,
        stagnation=config.budget.stagnation,
    )

    def stop(progress: Progress) -> str | None:
        if stop_after is not None and progress.steps >= stop_after:
            return f"as many steps as were recorded: {stop_after}"
        return limits.reason(progress)

    def memory(journal: Journal, task: Task) -> str:
        return remember(journal, task.parent_ids, kind=config.agent.memory, max_tokens=config.agent.memory_tokens)

    def spent() -> tuple[int, float]:
        amount = model_client.ledger.spent
        return amount.tokens, amount.usd

    orchestrator = Orchestrator(
        plan=Plan(
            seed=config.project.seed,
            batch=config.search.batch,
            max_steps=config.search.max_steps,
            writers=max(config.search.batch, config.search.workers),
        ),
        schedule=schedule_of(config.search.schedule)(),
        policy=policy_of(config),
        stages=stages,
        evaluator=evaluator,
        store=store,
        journal=journal,
        stop=stop,
        spent=spent,
        active_seconds=active_seconds,
        memory=memory,
        usage=model_client.usage_of,
        reward=lambda node, gain: model_client.reward(
            node.id,
            gain,
            writer=node.writer,
            prompt_tokens=node.metadata.get("prompt_tokens"),
            completion_tokens=node.metadata.get("completion_tokens"),
        ),
        control=Control(poll=ControlFile(run_dir, store, interrupted).poll, interrupted=interrupted),
    )
    return Search(
        config, problem, store, journal, evaluator, model_client, orchestrator, deps, tier, live, deadline, closers
    )


def problem_of(config: Config) -> Problem:
    return build_problem(config)


def limits_of(config: Config) -> Limits:
    execution = config.execution
    return Limits(
        seconds=execution.timeout,
        cpu_seconds=execution.cpu_seconds,
        memory_mb=execution.memory_mb,
        processes=execution.processes,
        file_mb=execution.file_mb,
        disk_mb=execution.disk_mb,
        output_kb=execution.output_kb,
        threads=execution.threads,
    )


def _model_client(
    config: Config, problem: Problem, store: RunStore, stop_now: threading.Event, recorded: Recorded | None
) -> ModelClient:
    ledger = Ledger(config.budget.tokens, config.budget.usd, stop_now)
    ledger.restore(store.bills(), store.held())
    roles = model_settings(config.llm, plugins=config.plugin_folders)
    uses_models = any(settings.provider != "rules" for settings in roles.values())
    wants_cache = config.llm.cache and uses_models and recorded is None
    return ModelClient(
        roles,
        log=store if recorded is None else RecordedCalls(recorded.calls, store, recorded.match),
        ledger=ledger,
        cache=ReplyCache(logs_dir(config.project.dir) / "llm_cache.db") if wants_cache else None,
        rules=problem.rules(),
        run_seed=config.project.seed,
        stop=stop_now,
        offline=recorded is not None,
    )


@contextmanager
def open_jobs(
    config: Config, problem: Problem, run_dir: Path, *, accept_unsandboxed: bool = False
) -> Iterator[tuple[Jobs, Limits]]:
    """Sandbox and workers alone, for what is run outside a search (`export-best --refit`)."""
    closers: list[Callable[[], None]] = []
    jobs, _ = open_workers(config, problem, run_dir, accept_unsandboxed, closers)
    try:
        yield jobs, limits_of(config)
    finally:
        for closer in reversed(closers):
            closer()


def policy_of(config: Config) -> SearchPolicy:
    """One line a policy; its file is loaded when it is chosen."""
    search = config.search
    if search.policy == "three_phase":
        from core.search.three_phase import ThreePhasePolicy

        return ThreePhasePolicy(search.num_drafts, search.debug_prob, search.max_debug_depth, search.merge_prob)
    if search.policy == "mcts":
        from core.search.mcts import MCTSPolicy

        return MCTSPolicy(search.num_drafts, search.max_debug_depth, search.merge_prob, search.exploration)
    if search.policy == "islands":
        from core.search.islands import IslandsPolicy

        keys = (
            "num_islands", "per_island", "population_size", "selection", "tournament_size", "temperature", "migration",
            "migration_interval", "reset_evaluations", "stagnation_restart", "crossover_prob", "generate_prob",
            "refine_interval", "tune_interval", "grid",
        )  # fmt: skip
        return IslandsPolicy(seed=config.project.seed, **{key: getattr(search, key) for key in keys})
    from core.search.generations import GenerationsPolicy

    return GenerationsPolicy(questions=search.questions, repairs=search.repairs)


def agents_of(config: Config, problem: Problem) -> dict[str, Agent]:
    """The problem's own agents, or the CoderAgent for every operator."""
    prompts = Path(config.prompts.dir) if config.prompts.dir else None
    options = {"repairs": config.agent.repairs, "max_tokens": config.agent.prompt_tokens}
    own = problem.agents(AgentBuilder(prompts, problem.single_function, options))
    if own:
        return {operator: with_defaults(agent, AgentDefaults) for operator, agent in own.items()}
    coder = import_module("agents.coder_agent").CoderAgent
    return {
        "*": coder(
            prompts_dir=prompts,
            repairs=config.agent.repairs,
            single_function=problem.single_function,
            max_tokens=config.agent.prompt_tokens,
        )
    }


def reviewer_of(config: Config) -> Reviewer | None:
    if config.agent.review == "never":
        return None
    reviewer: Reviewer = import_module("agents.reviewer_agent").ReviewerAgent(
        prompts_dir=Path(config.prompts.dir) if config.prompts.dir else None,
        max_tokens=config.agent.prompt_tokens,
        repairs=config.agent.repairs,
    )
    return reviewer
