"""The composition root: from a configuration to a search that can run. The only place that knows every part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from core.backend.model_client import ModelClient
from core.contracts import (
    Evaluator,
    EvaluatorDefaults,
    EvaluatorDeps,
    Jobs,
    Limits,
    Problem,
    Progress,
    SearchPolicy,
    with_defaults,
)
from core.loop.attempt import RunContext
from core.loop.orchestrator import Orchestrator
from core.loop.plan import Control, Plan
from core.loop.stages import Stages
from core.search.stopping import stopping
from core.state.journal import Journal
from core.state.memory import Memory, remember
from core.state.node import Node
from core.state.task import Task
from core.workers.pool import JobPool
from problems.registry import build_problem
from runs.beginning.selftest import SelfTest
from runs.beside.live_output import LiveOutput
from runs.control import ControlFile, MarkedAgain, StopWatch, stopped_nodes
from runs.ending.process_end import clear_workspaces
from runs.parts.deadline import Deadline
from runs.parts.limits import limits_of
from runs.parts.policies import chosen_by, last_generation, policy_of
from runs.parts.schedule import at_once, schedule_of
from runs.parts.told_context import context_of, told
from runs.parts.toolbox import Toolboxes
from runs.parts.workers import open_workers, workspaces_dir
from runs.parts.writing import agents_of, model_client_of, reviewer_of, rules_version_of, uses_models
from runs.recorded.scores import ReplayedEvaluator
from runs.search import Process, Search
from runs.tickets.files import ProgramFiles
from utils.allowance import Allowance
from utils.config_schema import Config


def compose(config: Config, problem: Problem, process: Process) -> Search:
    """Build every part of one run. What was opened is closed again if a later part cannot be built.

    Raises:
        ConfigError, NoSandboxError: before anything runs.
    """
    with ExitStack() as parts:
        time_limit = problem.time_limit(limits_of(config))
        journal = Journal(
            lower_is_better=problem.lower_is_better,
            normal_hash=problem.normal_hash,
            time_limit=time_limit,
            read=process.store.texts,
        )
        files = ProgramFiles(problem)
        live = parts.enter_context(closing(LiveOutput(process.run_dir)))
        deadline = _deadline(config, problem, process)
        model_client = model_client_of(config, problem, process, parts, files, live.hear, deadline.seconds_left)
        parts.enter_context(closing(model_client))
        deadline.spent_usd = lambda: model_client.ledger.spent.usd + model_client.ledger.lost.usd
        model_client.prepare()
        jobs, tier = _jobs(config, problem, process, parts, live, deadline)
        self_test = SelfTest(config, problem, jobs) if tier != "none" else None
        deps = _evaluator_deps(config, process, journal, jobs, tier, deadline)
        scoring = with_defaults(problem.evaluator(deps), EvaluatorDefaults)
        evaluator = _replayed(scoring, problem, process, isolated=deps.isolated)
        parts.enter_context(closing(evaluator))
        toolbox = Toolboxes(config, problem, journal, files, jobs, limits_of(config))
        policy = policy_of(config)
        now = replace(
            context_of(config, problem, process, isolated=tier != "none", together=evaluator.together),
            chosen_by=chosen_by(config, model_client.roles),
            last_generation=last_generation(policy, config.search.max_generations),
        )
        context, told_before = told(now, process)
        stages = _stages(config, problem, context, process, journal, evaluator, model_client, toolbox, live)
        files.bind(journal, evaluator, stages.read)
        parts_of_loop = journal, policy, stages, evaluator, model_client
        orchestrator = _orchestrator(config, problem, context, process, *parts_of_loop)
        return Search(
            config=config,
            problem=problem,
            store=process.store,
            journal=journal,
            evaluator=evaluator,
            model_client=model_client,
            orchestrator=orchestrator,
            deps=deps,
            files=files,
            sandbox_tier=tier,
            live=live,
            deadline=deadline,
            told=told_before,
            rules_version=rules_version_of(model_client, process.store),
            self_test=self_test,
            parts=parts.pop_all(),
        )


def problem_of(config: Config) -> Problem:
    """The problem that the configuration names. Raises ConfigError for an unknown one."""
    return build_problem(config)


@contextmanager
def open_jobs(
    config: Config, problem: Problem, run_dir: Path, *, accept_unsandboxed: bool = False
) -> Iterator[tuple[Jobs, Limits]]:
    """Sandbox and workers alone, for what is run outside a search (`arena`, `export-best --refit`).

    However it ends, what they worked in is removed, but for a folder that was there before: it is a run's.
    """
    scratch = workspaces_dir(config) / run_dir.name
    with ExitStack() as parts:
        if not scratch.exists():
            parts.callback(clear_workspaces, scratch)
        jobs, _ = open_workers(config, problem, run_dir, accept_unsandboxed, parts)
        yield jobs, limits_of(config)


def _jobs(
    config: Config, problem: Problem, process: Process, parts: ExitStack, live: LiveOutput, deadline: Deadline
) -> tuple[JobPool, str]:
    """The workers and the sandbox tier; what the user stopped in an earlier process is not run again."""
    run_dir, recorded = process.run_dir, process.recorded
    accepted = process.accept_unsandboxed
    jobs, tier = open_workers(
        config, problem, run_dir, accepted, parts, live=live, deadline=deadline, ahead=process.sandbox
    )
    jobs.refuse(recorded.stopped if recorded else stopped_nodes(run_dir))
    parts.callback(StopWatch(run_dir, process.store, jobs.stop).close)
    return jobs, tier


def _deadline(config: Config, problem: Problem, process: Process) -> Deadline:
    return Deadline(
        config.budget.seconds,
        process.active_seconds,
        process.interrupts.finish,
        doing=process.doing,
        noun="game" if problem.family == "arena" else "program",
        waits="replies that are under way" if uses_models(config) else "",
        lifted=process.stop_after is not None,
        usd=config.budget.usd,
        usd_per_hour=config.execution.usd_per_hour if process.recorded is None else 0.0,
        allowance=Allowance(process.awake),
    )


def _replayed(evaluator: Evaluator, problem: Problem, process: Process, *, isolated: bool) -> Evaluator:
    """In a replay the recorded verdicts lead on; its own are compared with them."""
    scores = process.recorded.scores if process.recorded else None
    if scores is None:
        return evaluator
    return ReplayedEvaluator(evaluator, scores, claims_only=problem.claims_only, isolated=isolated)


def _evaluator_deps(
    config: Config, process: Process, journal: Journal, jobs: Jobs, tier: str, deadline: Deadline
) -> EvaluatorDeps:
    def doing(text: str) -> None:
        if not deadline.is_ending():  # then what the end waits for is told
            process.doing(text)

    return EvaluatorDeps(
        jobs=jobs,
        limits=limits_of(config),
        run_dir=process.run_dir,
        work_dir=workspaces_dir(config) / process.run_dir.name,
        seed=config.project.seed,
        journal=journal,
        games=process.store,
        append=process.store.append,
        isolated=tier != "none",
        allowance=deadline.allowance,
        archive_mb=config.execution.archive_mb,
        tune_trials=config.search.tune_trials,
        repeats=config.search.repeats,
        doing=doing,
        shows_final=process.recorded is None or process.recorded.scores is None,
    )


def _stages(
    config: Config,
    problem: Problem,
    context: RunContext,
    process: Process,
    journal: Journal,
    evaluator: Evaluator,
    model_client: ModelClient,
    toolbox: Toolboxes,
    live: LiveOutput,
) -> Stages:
    return Stages(
        agents=agents_of(config, problem),
        reviewer=reviewer_of(config),
        evaluator=evaluator,
        store=process.store,
        journal=journal,
        run_context=context,
        bind=model_client.bind,
        usage=model_client.usage_of,
        recall=lambda node_id: model_client.recall(node_id, process.store.calls(node_id)),
        toolbox=toolbox,
        on_stage=live.work.stage,
    )


def _orchestrator(
    config: Config,
    problem: Problem,
    context: RunContext,
    process: Process,
    journal: Journal,
    policy: SearchPolicy,
    stages: Stages,
    evaluator: Evaluator,
    model_client: ModelClient,
) -> Orchestrator:
    finish, store = process.interrupts.finish, process.store
    marks = process.recorded.marks if process.recorded else ()
    said = (
        MarkedAgain(marks, store.rounds)
        if marks
        else ControlFile(process.run_dir, store, finish, process.control_begun)
    )
    return Orchestrator(
        plan=_plan(config, process),
        schedule=schedule_of(config)(),
        policy=policy,
        stages=stages,
        evaluator=evaluator,
        store=process.store,
        journal=journal,
        stop=_stop(config, problem, process.stop_after),
        spent=_spent(model_client),
        active_seconds=process.active_seconds,
        memory=_memory(context),
        usage=model_client.usage_of,
        reward=_reward(model_client),
        control=Control(poll=said.poll, interrupted=finish),
    )


def _plan(config: Config, process: Process) -> Plan:
    return Plan(
        seed=config.project.seed,
        max_steps=config.search.max_steps,
        max_generations=config.search.max_generations,
        last_step=process.stop_after,
        asked=process.recorded.asked if process.recorded else {},
        withdrawn=process.recorded.withdrawn if process.recorded else (),
        dropped=process.recorded.dropped if process.recorded else {},
        lag=config.search.lag,
        writers=max(at_once(config), config.search.workers),
    )


def _stop(config: Config, problem: Problem, stop_after: int | None) -> Callable[[Progress], str | None]:
    """The limits of the configuration; a replay ends where its record does: limits may have been others then."""
    if stop_after is not None:
        return lambda progress: (
            f"as many steps as were recorded: {stop_after}" if progress.steps >= stop_after else None
        )
    return stopping(
        max_steps=config.search.max_steps,
        max_generations=config.search.max_generations,
        seconds=config.budget.seconds,
        tokens=config.budget.tokens,
        usd=config.budget.usd,
        usd_per_hour=config.execution.usd_per_hour,
        target=config.budget.target,
        bound=problem.bound,
        lower_is_better=problem.lower_is_better,
        stagnation=config.budget.stagnation,
        repeats=config.budget.repeats,
        nothing_left=config.budget.nothing_left,
    ).reason


def _spent(model_client: ModelClient) -> Callable[[], tuple[int, float]]:
    def spent() -> tuple[int, float]:
        amount = model_client.ledger.spent
        return amount.tokens, amount.usd

    return spent


def _memory(context: RunContext) -> Callable[[Journal, Task], Memory]:
    def memory(journal: Journal, task: Task) -> Memory:
        told = context.as_of(task.round)
        journal.tell_time_limit(told.time_limit)
        return remember(
            journal, task.parent_ids, kind=told.memory, max_tokens=told.memory_tokens, code_tokens=told.code_tokens
        )

    return memory


def _reward(model_client: ModelClient) -> Callable[[Node, float], None]:
    if not model_client.settings_of("code").models:  # nobody chooses among several
        return lambda node, gain: None

    def reward(node: Node, gain: float) -> None:
        model_client.reward(
            node.id,
            gain,
            writer=node.writer,
            prompt_tokens=node.prompt_tokens,
            completion_tokens=node.completion_tokens,
        )

    return reward
