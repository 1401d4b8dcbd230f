"""The operators that a search may use: the built-in ones and those of the user's plug-ins."""

from __future__ import annotations

from core.state.operators import BUILTIN, OperatorSpec, further_operators
from utils.config_schema import Config
from utils.errors import ConfigError
from utils.registry import nearest
from utils.strategies import POLICIES


def written_operator(config: Config, name: str) -> OperatorSpec:
    """The operator that a user asks for by name. Raises ConfigError for one that no writer is asked for."""
    written = {known: spec for known, spec in operators_of(config).items() if spec.rules}
    if name not in written:
        hint = nearest(name, list(written))
        raise ConfigError(f"--operator {name}: no writer is asked for it{hint}; allowed: {', '.join(written)}")
    return written[name]


def operators_of(config: Config) -> dict[str, OperatorSpec]:
    """Name → spec.

    Raises:
        ConfigError: an operator of a plug-in cannot be used, or the policy proposes one that is not there.
    """
    operators = {**BUILTIN, **further_operators(config.plugin_folders)}
    for name in POLICIES.get(config.search.policy, config.plugin_folders).operators:
        if name not in operators:
            raise ConfigError(
                f"search.policy={config.search.policy}: it proposes the operator '{name}', which is not there"
                f"{nearest(name, list(operators))}; allowed: {', '.join(operators)}"
            )
    return operators
