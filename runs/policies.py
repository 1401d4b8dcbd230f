"""The search policy that a configuration names, built with its options."""

from __future__ import annotations

from core.contracts import ParentSelector, PolicyDeps, SearchPolicy
from utils.config_schema import Config
from utils.strategies import POLICIES, SELECTORS


def policy_of(config: Config) -> SearchPolicy:
    """The policy, without anything told to it yet. Raises ConfigError for a policy or selector that is not there."""
    plugins = config.plugin_folders

    def selector(name: str) -> ParentSelector:
        spec = SELECTORS.get(name, plugins)
        built: ParentSelector = spec.build(config.search.selectors.get(name) or spec.options())
        return built

    spec = POLICIES.get(config.search.policy, plugins)
    policy: SearchPolicy = spec.build(config.search.options, PolicyDeps(config.project.seed, selector))
    return policy
