"""The models that a provider sells and what they cost, for a person who chooses one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from core.backend.exchange import Usage
from core.backend.hosts import publishers
from core.backend.prices import context_size, cost_of, usual_tokens
from core.backend.providers import spec_of
from core.backend.roles import with_model
from core.backend.settings import ModelSettings

_NO_WRITER = re.compile(
    r"audio|image|video|vision|tts|speech|realtime|live|transcribe|translate|whisper|embedding|moderation|ocr|omni|"
    r"robotics|search|banana|:|ft-",
    re.IGNORECASE,
)
"""Models for other things than text, and names that are no model's."""


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model with its published price."""

    name: str
    input: float
    """Dollars per million tokens of a prompt."""
    output: float
    """Dollars per million tokens of a reply."""
    usd_a_call: float
    """Dollars of a usual call."""
    context: int | None
    """Tokens."""


def listed_models(settings: ModelSettings) -> list[ListedModel]:
    """What the provider of `settings` sells of the family of its model, a cheap call first; [] where nothing is listed.

    Others may be named all the same: a price list is never complete.
    """
    family = re.split(r"[-.\d]", settings.model, maxsplit=1)[0].lower()
    names = (name for name in _published_names(settings) if name.lower().startswith(family))
    found = [_listed(with_model(settings, name)) for name in names]
    return sorted((model for model in found if model is not None), key=lambda model: (model.usd_a_call, model.name))


def _published_names(settings: ModelSettings) -> Iterator[str]:
    from genai_prices.data import providers

    wanted = publishers(spec_of(settings), settings.base_url)[:1]
    for provider in providers:
        if provider.id in wanted:
            yield from (m.id for m in provider.models if not m.deprecated and not _NO_WRITER.search(m.id))


def _listed(settings: ModelSettings) -> ListedModel | None:
    """None for what has no price for words."""
    thousand = [cost_of(settings, usage) for usage in (Usage(1000, 0), Usage(0, 1000))]
    a_call = cost_of(settings, usual_tokens("code", settings))
    if a_call is None or not all(thousand):
        return None
    dear, dearer = (round((usd or 0.0) * 1000, 4) for usd in thousand)
    return ListedModel(settings.model, dear, dearer, a_call, context_size(settings))
