"""Who writes: the models, the agents that ask them, and the reviewer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from importlib import import_module
from math import inf
from pathlib import Path
from typing import Any

from core.backend.cache import ReplyCache
from core.backend.call_pipeline import External
from core.backend.exchange import Reply, Request
from core.backend.model_client import ModelClient
from core.backend.partial_reply import Listener
from core.backend.provider import ProviderSpec
from core.backend.providers import spec_of
from core.backend.recording import RecordedCalls
from core.backend.roles import model_settings
from core.backend.settings import ModelSettings
from core.backend.usage import Ledger
from core.contracts import Agent, AgentBuilder, AgentDefaults, Problem, Reviewer, WriterDesk, with_defaults
from core.storage.event_writer import IN_A_SEARCH
from core.storage.repository import RunStore
from runs.parts.operators import operators_of
from runs.parts.workers import writer_view
from runs.recorded.rules_version import FACT, with_now
from runs.run_folder import logs_dir
from runs.search import Process, Recorded
from utils.config_schema import Config
from utils.errors import BackendError, TicketGone
from utils.strategies import POLICIES

IDEAS_FROM = 4
"""Writers at once from which a call for their directions pays: it costs a tenth of what they cost, at most a fifth."""


def model_client_of(
    config: Config,
    problem: Problem,
    process: Process,
    parts: ExitStack,
    desk: WriterDesk | None = None,
    listener: Listener | None = None,
    seconds_left: Callable[[], float] = lambda: inf,
) -> ModelClient:
    """The models of every role, with the run's record, budget and cache; or the recorded replies of an earlier run.

    What must be closed later is put on `parts`. `desk`, `listener`, `seconds_left`: as ModelClient and providers take
    them.
    """
    store, recorded, interrupts = process.store, process.recorded, process.interrupts
    rules = problem.rules()
    if recorded is not None and recorded.rules is not None:
        recorded.rules.written_now(rules)
    per_second = config.execution.usd_per_hour / 3600 if recorded is None else 0.0
    ledger = Ledger(
        config.budget.tokens, config.budget.usd, interrupts.finish, lambda: process.active_seconds() * per_second
    )
    ledger.restore(store.bills(), store.held())
    roles = model_settings(
        config.llm,
        plugins=config.plugin_folders,
        box=None if recorded else lambda: writer_view(config, parts, problem.hidden_data, process.accept_unsandboxed),
        desk=desk,
    )
    wants_cache = config.llm.cache and uses_models(config) and recorded is None
    return ModelClient(
        roles,
        log=store if recorded is None else _answering(recorded, store, roles),
        ledger=ledger,
        cache=ReplyCache(logs_dir(config.project.dir) / "llm_cache.db", delay=IN_A_SEARCH) if wants_cache else None,
        rules=rules,
        run_seed=config.project.seed,
        stop=interrupts.now,
        ending=interrupts.finish,
        external=process.tickets.reply if process.tickets else _as_recorded(recorded) if recorded else None,
        offline=recorded is not None,
        may_drift=recorded is not None and recorded.match == "sample",
        listener=listener,
        in_force=recorded.rules.in_force if recorded is not None and recorded.rules is not None else None,
        seconds_left=seconds_left,
    )


def _answering(recorded: Recorded, store: RunStore, roles: Mapping[str, ModelSettings]) -> RecordedCalls:
    """The record as a log. What `rules` wrote is not in it where they are the writer still: they write it anew."""
    calls = [
        call for call in recorded.calls
        if call.provider != "rules" or call.role not in roles or roles[call.role].provider != "rules"
    ]  # fmt: skip
    return RecordedCalls(calls, store, recorded.match, recorded.cut, as_paid=recorded.scores is not None)


def rules_version_of(client: ModelClient, store: RunStore) -> list[dict[str, Any]]:
    """Which versions of `rules` wrote and write, as it is to be stored."""
    writes = any(one.provider == "rules" for one in client.settings_of("code").alternatives)
    return with_now(store.get_fact(FACT) or [], store.rounds(), client.rules if writes else None)


def _as_recorded(recorded: Recorded) -> External:
    """In a replay: what was told is in the record, and what was withdrawn is withdrawn again."""

    def ask(name: str, request: Request) -> Reply:
        if name in recorded.withdrawn or request.tools:
            raise TicketGone(f"ticket of {name}: withdrawn in the recorded run")
        raise BackendError(f"what was told for {name} is not in the record, and a replay asks nobody")

    return ask


def uses_models(config: Config) -> bool:
    """True if any role is a model: prompts are then read by somebody."""
    roles = model_settings(config.llm, plugins=config.plugin_folders)
    return any(settings.provider != "rules" for settings in roles.values())


def agents_of(config: Config, problem: Problem) -> dict[str, Agent]:
    """The problem's own agents, or the CoderAgent for every operator."""
    prompts = _prompts_dir(config)
    is_outside = any(spec.is_outside for spec in _writers(config))
    options = {
        "repairs": 0 if is_outside else config.agent.repairs,  # a ticket takes one program
        "max_tokens": config.agent.prompt_tokens,
        "operators": operators_of(config),
        "answers": not hands_in_programs(config),
        "asks": _asks_questions(config),
        "by_tool": is_outside,
    }
    own = problem.agents(AgentBuilder(prompts, problem.single_function, options))
    if own:
        return {operator: with_defaults(agent, AgentDefaults) for operator, agent in own.items()}
    coder = import_module("agents.coder_agent").CoderAgent
    return {"*": coder(prompts_dir=prompts, single_function=problem.single_function, **options)}


def ideas_at_once(config: Config) -> int:
    """To how many writers one call gives a direction each; 0 where none is asked for.

    Only of a model that answers questions: a command, an agent or a writer outside is there for programs. Policies of
    whole generations have their strategist.
    """
    least = {"auto": IDEAS_FROM, "always": 2, "never": None}[config.agent.ideas]
    batch = config.search.batch
    answers = all(spec.is_model and not (spec.starts_program or spec.is_outside) for spec in _writers(config))
    alone = not POLICIES.get(config.search.policy, config.plugin_folders).whole_rounds
    return batch if least is not None and batch >= least and answers and alone else 0


def hands_in_programs(config: Config) -> bool:
    """True where a proposal is worked on until it is handed in: outside by its ticket, or in a session of an agent."""
    return any(spec.is_outside or spec.by_session for spec in _writers(config))


def _asks_questions(config: Config) -> bool:
    """Whether a game's strategist asks somebody."""
    wanted, writers = config.agent.questions, _writers(config)
    may_answer = not any(spec.by_session or (spec.is_outside and wanted != "always") for spec in writers)
    return wanted != "never" and may_answer


def _writers(config: Config) -> list[ProviderSpec]:
    """The providers that may be asked for programs."""
    return list(map(spec_of, model_settings(config.llm, plugins=config.plugin_folders)["code"].alternatives))


def reviewer_of(config: Config) -> Reviewer:
    """The agent that reads what programs printed, where `RunContext.review` wants it."""
    reviewer: Reviewer = import_module("agents.reviewer_agent").ReviewerAgent(
        prompts_dir=_prompts_dir(config),
        max_tokens=config.agent.prompt_tokens,
        repairs=config.agent.repairs,
    )
    return reviewer


def _prompts_dir(config: Config) -> Path | None:
    return Path(config.prompts.dir) if config.prompts.dir else None
