"""What a person should know of a writer before choosing it: can it be asked from here, and what does it cost?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from core.backend.preflight import check_model
from core.backend.price_list import listed_models
from core.backend.providers import spec_of
from core.backend.roles import model_settings
from core.backend.settings import ModelSettings
from dashboard.server.schemas.control import ModelPrice, Writer
from utils.config import load_config
from utils.errors import ConfigError


def writer_of(preset: str, plugins: Sequence[str] = ()) -> Writer:
    """The writer that a preset names, as it would be asked from this server's environment. Sends nothing."""
    try:
        config = load_config(presets={"llm": preset})
        settings = model_settings(config.llm, plugins=(*config.plugin_folders, *plugins))["code"]
    except ConfigError as error:  # a model that has to be named, for one
        return Writer(name=preset, refusal=str(error))
    asked = spec_of(settings)
    return Writer(
        name=preset,
        model=settings.model if asked.is_model and not asked.is_outside else "",
        takes_model=asked.is_model and not asked.is_outside,
        models=[ModelPrice(**asdict(model)) for model in listed_models(settings)],
        refusal=_refusal(settings),
    )


def _refusal(settings: ModelSettings) -> str:
    """Why none of its models can be asked, in one line; '' if they can."""
    try:
        for model in settings.alternatives:
            check_model(model)
    except ConfigError as error:
        return str(error)
    return ""
