"""The search policy that a configuration names, built with its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.backend.exchange import settings_hash
from core.backend.settings import ModelSettings
from core.contracts import ParentSelector, PolicyDeps, SearchPolicy
from core.search.control import WithControl
from runs.parts.operators import operators_of
from runs.parts.plugin_parts import PluginPart, PluginPolicy, PluginSelector
from utils.config import to_plain
from utils.config_schema import Config
from utils.errors import ConfigError
from utils.strategies import POLICIES, SELECTORS


def policy_of(config: Config) -> SearchPolicy:
    """The policy, with its control draws, and nothing told to it yet.

    Raises:
        ConfigError: a policy or selector is not there or cannot be built, or control draws are wanted between whole
            rounds.
    """
    plugins = config.plugin_folders

    def selector(name: str) -> ParentSelector:
        spec = SELECTORS.get(name, plugins)
        options = config.search.selectors.get(name) or spec.options()
        if not SELECTORS.is_builtin(name):
            key = f"{SELECTORS.key}={name}"
            return PluginSelector(PluginPart(key, ParentSelector, ("select",), spec.build, options))
        built: ParentSelector = spec.build(options)
        return built

    spec = POLICIES.get(config.search.policy, plugins)
    given = (config.search.options, PolicyDeps(config.project.seed, selector))
    policy: SearchPolicy
    if POLICIES.is_builtin(config.search.policy):
        policy = spec.build(*given)
    else:
        key = f"{POLICIES.key}={config.search.policy}"
        user = PluginPart(key, SearchPolicy, ("ask", "tell"), spec.build, *given)
        policy = PluginPolicy(user, whole_rounds=spec.whole_rounds, operators=operators_of(config))
    share = config.search.control or 0.0
    if share and spec.whole_rounds:
        raise ConfigError(f"search.control={share:g}: {config.search.policy} asks for whole rounds; allowed: 0")
    return WithControl(policy, share) if share else policy


def last_generation(policy: SearchPolicy, limit: int | None) -> int | None:
    """The number of the last generation under `max_generations`: who says how many are over counts them from 0."""
    if limit is None:
        return None
    return limit if policy.finished_generations is None else limit - 1


def chosen_by(config: Config, roles: Mapping[str, ModelSettings]) -> dict[str, Any]:
    """Key → value of what choices and prompts follow from, beside what the journal and `RunContext` hold.

    Limits of a search are not among them: each proposal knows its own.
    """
    plain = to_plain(config)
    found = {f"search.{key}": plain["search"][key] for key in ("policy", "schedule", "selectors")}
    found["search.control"] = config.search.control or 0.0
    found[f"search.{config.search.policy}"] = plain["search"][config.search.policy]
    found |= {f"agent.{key}": plain["agent"][key] for key in ("prompt_tokens", "repairs", "tools")}
    return found | {f"llm.{role}": settings_hash(settings) for role, settings in sorted(roles.items())}
