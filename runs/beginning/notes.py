"""What of a configuration will not do what its user may expect, in lines for before a run and for its plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, floor

from core.backend.providers import spec_of
from core.backend.settings import ModelSettings
from core.contracts import Problem
from core.executor.devices import Cards
from core.loop.pipeline_schedule import PipelineSchedule
from runs.beginning.fitting import idle_workers
from runs.beginning.unused_words import goes_step_by_step, told_words
from runs.parts.schedule import schedule_of
from utils.config_schema import Config
from utils.counts import counted
from utils.strategies import POLICIES


def notes_of(config: Config, roles: Mapping[str, ModelSettings], problem: Problem) -> Iterator[str]:
    """One line each; none where all is as it seems.

    Args:
        roles: role → the model that serves it.
    """
    yield from config.remarks
    if roles["code"].provider != "rules" and not config.problem.goal and problem.untold:
        yield f'no prompt says {problem.untold}: --problem.goal="…" does, in a sentence'
    idle, words = idle_workers(config)
    if idle:
        of = counted(config.search.workers, "worker")
        yield f"{idle} of {of} will find nothing to run; {words} keeps all of them busy"
    yield from _crowded(config)
    yield from told_words(config, problem)
    yield from _not_chosen(config, (config.given or frozenset()) - problem.unread.keys())
    unmetered = [f"llm.{role}.network=open" for role, settings in roles.items() if is_unmetered(settings)]
    if unmetered:
        yield (
            f"metered: claimed ({', '.join(unmetered)}: the agent asks its model by its own login, so that nobody here "
            "counts its tokens and dollars, and budget.usd and budget.tokens cannot be kept)"
        )
    if _refines_in_vain(config, roles):
        yield (
            f"llm.refine is never asked: search.policy={config.search.policy}"
            + (
                " asks it with search.islands.refine_interval=N"
                if config.search.policy == "islands"
                else " refines none"
            )
        )


def _crowded(config: Config) -> Iterator[str]:
    """Of more workers than the GPUs of this machine leave room for."""
    execution, workers = config.execution, config.search.workers
    cards = Cards(execution.gpus if execution.runner == "local" else 0)
    if 0 < (places := cards.places) < workers:
        sharers = ceil(workers / len(cards))
        part = floor(10_000 / sharers) / 10_000  # rounded up it would leave room for one less
        shared = f"; execution.gpus={part:g} lets {sharers} share a card" if execution.gpus <= 1 else ""
        yield (
            f"search.workers={workers}, but the GPUs here leave room for {counted(places, 'program')} at once "
            f"(execution.gpus={execution.gpus:g}): the others wait{shared}"
        )


def _not_chosen(config: Config, given: frozenset[str]) -> Iterator[str]:
    """Keys that the user set of a policy, a selector, a schedule or a runner that is not the one of this search. A file
    may have those of several, to choose among, so they are told and not refused."""
    search = config.search
    idle: dict[str, list[str]] = {}
    for key in sorted(given):
        section, name, option = [*key.split(".", 2), "", ""][:3]
        reader = ""
        if section == "execution" and name in ("ray", "modal") and name != config.execution.runner:
            reader = f"execution.runner={name}"
        elif key == "search.lag" and search.lag and schedule_of(config) is not PipelineSchedule:
            reader = "search.schedule=pipeline"
        elif key == "search.max_generations" and search.max_generations and goes_step_by_step(config):
            reader = "a policy of generations (islands, generations)"
        elif key == "search.tune_trials" and not _tunes(config):
            reader = "search.islands.tune_interval=N, every how many generations"
        elif section == "search" and name == "selectors" and POLICIES.is_builtin(search.policy):
            chosen, selector = getattr(search.options, "selection", None), option.partition(".")[0]
            reader = "" if selector == chosen else f"search.islands.selection={selector}"
        elif section == "search" and option and name not in ("selectors", search.policy):
            by_older_name = f"search.{search.policy}.{option}" in given  # one word sets those of all policies
            reader = "" if by_older_name else f"search.policy={name}"
        if reader:
            idle.setdefault(reader, []).append(key)
    yield from (f"{', '.join(keys)}: not read here, but with {reader}" for reader, keys in idle.items())


def _tunes(config: Config) -> bool:
    """Whether the search, as it is set, ever tunes a program's constants; a policy of another may."""
    options = config.search.options
    never = getattr(options, "tune_interval", 1) == 0 or getattr(options, "tune", True) is False
    return "tune" in POLICIES.get(config.search.policy, config.plugin_folders).operators and not never


def is_unmetered(settings: ModelSettings) -> bool:
    """True for an agent that no gateway of ours counts."""
    return spec_of(settings).by_session and settings.network == "open"


def _refines_in_vain(config: Config, roles: Mapping[str, ModelSettings]) -> bool:
    """True where another model than that of `code` was named for refining, and the search never refines."""
    refine, code = roles.get("refine"), roles.get("code")
    if refine is None or code is None or refine.writer == code.writer:
        return False
    asks = "refine" in POLICIES.get(config.search.policy, config.plugin_folders).operators
    return not asks or getattr(config.search.options, "refine_interval", 1) == 0
