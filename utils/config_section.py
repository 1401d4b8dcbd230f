"""Section: what every part of the configuration is made of."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A part with known keys only."""

    model_config = ConfigDict(extra="forbid", validate_default=True, allow_inf_nan=False)


def comma_list(value: Any) -> Any:
    return [part for part in value.split(",") if part] if isinstance(value, str) else value
