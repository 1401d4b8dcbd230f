"""What must be right before anything runs: files that are named, models that can be paid and reached."""

from __future__ import annotations

import re
from pathlib import Path

from core.backend.roles import model_settings
from core.loop.schedules import schedule_of
from runs.parts.operators import operators_of
from runs.parts.policies import policy_of
from runs.parts.toolbox import check_tools
from runs.tracking import trackers_of
from utils.config_schema import Config
from utils.errors import ConfigError
from utils.missing_file import no_file
from utils.strategies import POLICIES


def preflight(config: Config, *, calls_models: bool = True) -> None:
    """Raise ConfigError for the first thing that is wrong.

    Args:
        calls_models: False where no model will be asked, so that keys and prices are not needed.
    """
    for path in config.initial:
        if not Path(path).is_file():
            raise ConfigError(f"initial={path}: {no_file(path)}")
    if config.prompts.dir and not Path(config.prompts.dir).is_dir():
        raise ConfigError(f"prompts.dir={config.prompts.dir}: no such folder")
    spec = POLICIES.get(config.search.policy, config.plugin_folders)
    schedule_of(config.search.schedule, whole_rounds=spec.whole_rounds)
    policy_of(config)
    operators_of(config)
    trackers_of(config)
    check_tools(config)
    roles = model_settings(config.llm, plugins=config.plugin_folders)
    if calls_models and any(settings.provider != "rules" for settings in roles.values()):
        from core.backend.preflight import check

        try:
            check(roles, config.budget)
        except ConfigError as error:
            raise ConfigError(f"{error}{_of_variables(config, str(error))}") from error


def _of_variables(config: Config, told: str) -> str:
    """Of a key that a fault asks for: the expression that was to give it, where its variable is not set."""
    for (section, role, *rest), expression in config.environment.items():
        if (section, rest) != ("llm", ["api_key"]) or getattr(config.llm, role).api_key is not None:
            continue
        named = _VARIABLE.search(expression)
        if f"llm.{role}.api_key" in told and named and named[0] not in told:
            return f" ({expression} is not set)"
    return ""


_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]+")
