"""`problem.options`: what a problem of ours understands is a pydantic model beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from utils.errors import ConfigError
from utils.key_docs import option_docs, refusal
from utils.registry import nearest

Model = TypeVar("Model", bound=BaseModel)


def checked_options(model: type[Model], options: Mapping[str, Any] | None) -> Model:
    """The options as `model`; ConfigError with the key, what is wrong and what is allowed."""
    try:
        return model.model_validate(dict(options or {}))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = ".".join(map(str, fault["loc"]))
        if fault["type"] == "extra_forbidden":
            known = list(model.model_fields)
            said = f"unknown key{nearest(key, known)}; allowed: {', '.join(known)}"
            raise ConfigError(f"problem.options.{key}: {said}") from error
        said = refusal(fault, key, option_docs([model], ""))
        raise ConfigError(f"problem.options.{key}={fault['input']!r:.80}: {said}") from error
