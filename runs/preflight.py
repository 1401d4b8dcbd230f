"""What must be right before anything runs: files that are named, models that can be paid and reached."""

from __future__ import annotations

from pathlib import Path

from core.backend.settings import model_settings
from utils.config_schema import Config
from utils.errors import ConfigError


def preflight(config: Config) -> None:
    """ConfigError for the first thing that is wrong."""
    for path in config.initial:
        if not Path(path).is_file():
            raise ConfigError(f"initial={path}: no such file")
    if config.prompts.dir and not Path(config.prompts.dir).is_dir():
        raise ConfigError(f"prompts.dir={config.prompts.dir}: no such folder")
    if config.search.schedule == "async" and config.search.policy == "generations":
        raise ConfigError("search.schedule=async: the policy 'generations' needs whole rounds; allowed: rounds")
    roles = model_settings(config.llm)
    if any(settings.provider != "rules" for settings in roles.values()):
        from core.backend.preflight import check

        check(roles, config.budget)
