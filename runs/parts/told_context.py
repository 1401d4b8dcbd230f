"""What every writer of a run is told, put together from the configuration and the problem."""

from __future__ import annotations

from typing import Any

from core.contracts import Problem
from core.loop.attempt import RunContext
from runs.parts.baselines import told_baselines
from runs.parts.context_history import FACT, as_recorded, with_earlier
from runs.parts.limits import limits_of, models_of, told_limits
from runs.parts.operators import operators_of
from runs.parts.schedule import at_once, schedule_of
from runs.parts.writing import ideas_at_once, uses_models
from runs.search import Process
from utils.config_schema import Config
from utils.packages import installed_packages


def context_of(config: Config, problem: Problem, process: Process, *, isolated: bool, together: bool) -> RunContext:
    """What every writer is told as the configuration stands now."""
    asks_models, agent, batch = uses_models(config), config.agent, config.search.batch
    return RunContext(
        statement=statement_of(config, problem),
        preview=problem.preview(),
        packages=installed_packages(problem.preload, config.execution.python),
        limits=told_limits(problem, problem.run_limits(limits_of(config)), config.execution.gpus, models_of(config)),
        time_limit=problem.time_limit(limits_of(config)),
        references=lambda: told_baselines(process.store) if asks_models and not problem.seeds_search else "",
        writers=at_once(config),
        extras=problem.prompt_extras(),
        lower_is_better=problem.lower_is_better,
        claims_only=problem.claims_only,
        isolated=isolated,
        repair_crashes=agent.repair_crashes and asks_models,
        review=agent.review,
        operators=operators_of(config),
        batch=batch,
        sharing=1 if schedule_of(config).whole_rounds or together else batch,
        ideas=ideas_at_once(config),
        memory=agent.memory,
        memory_tokens=agent.memory_tokens,
        code_tokens=agent.code_tokens if asks_models else 0,  # rules read facts, not prompts
    )


def told(context: RunContext, process: Process) -> tuple[RunContext, list[dict[str, Any]]]:
    """The context that also knows what earlier rounds were told, and what is to be stored of that."""
    store, recorded = process.store, process.recorded
    if recorded is not None and recorded.told:
        return as_recorded(context, recorded.told), [dict(entry) for entry in recorded.told]
    return with_earlier(context, store.get_fact(FACT) or [], store.rounds())


def statement_of(config: Config, problem: Problem) -> str:
    """The task in the problem's words and, where there are any, in the user's; and the score that ends the search."""
    goal, target, bound = config.problem.goal, config.budget.target, problem.bound
    parts = [problem.statement().strip()]
    parts += [f"The user's goal: {goal.strip()}"] if goal else []
    parts += [f"The search ends at a score of {target:g}."] if target is not None else []
    parts += [f"No score is better than {bound:g}: the search ends there."] if bound is not None else []
    return "\n\n".join(parts)
