"""What a call costs: the price that is set, or the published one from `genai-prices`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from core.backend.exchange import Usage
from core.backend.hosts import publishers, tells_bill
from core.backend.network import shown_url
from core.backend.providers import spec_of
from core.backend.settings import ModelSettings

EXPECTED = {"code": Usage(7000, 2500), "feedback": Usage(4000, 300), "ideas": Usage(7000, 400)}
"""Tokens of a usual call: a prompt with task, preview, memory and a parent, a program of 150 lines; a review; ideas."""
THINKING = 4
"""Times as many completion tokens where the model reasons before it answers."""
PRICE_DAY = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""An hour that never moves, for prices that a choice depends on: some change with the time of day."""


def usual_tokens(role: str, settings: ModelSettings) -> Usage:
    """Tokens of a usual call of a role, within `max_tokens`."""
    usual = EXPECTED[role]
    written = usual.completion * (THINKING if settings.reasoning else 1)
    return Usage(usual.prompt, min(written, settings.max_tokens))


def cost_of(settings: ModelSettings, usage: Usage, at: datetime | None = None) -> float | None:
    """Dollars for `usage`; 0.0 where nobody sends a bill, None if the price is not known.

    Args:
        at: when the request was sent, since some prices depend on the hour; None for now.
    """
    if is_free(settings):
        return 0.0
    if usage.usd is not None and tells_bill(settings.base_url):
        return usage.usd
    if settings.price is not None:
        price, cached = settings.price, min(usage.cached, usage.prompt)
        read = cached * (price.input if price.cached is None else price.cached)
        more = min(usage.written, usage.prompt - cached) * (spec_of(settings).cache_write - 1)
        return ((usage.prompt - cached + more) * price.input + read + usage.completion * price.output) / 1e6
    found = None if settings.extra_price else _published(settings, usage, at)
    return None if found is None else float(found.total_price)


def is_free(settings: ModelSettings) -> bool:
    """True where nobody sends a bill: a server or a command on this machine, with no price set."""
    return settings.price is None and (settings.is_local or not spec_of(settings).sends_bills)


def is_priced(settings: ModelSettings) -> bool:
    """True if every call of this model can be priced before it is made."""
    return cost_of(settings, Usage(1000, 1000)) is not None


def context_size(settings: ModelSettings) -> int | None:
    """Context window in tokens: as set, else as published, else None."""
    if settings.context is not None:
        return settings.context
    found = _published(settings, Usage(1, 1))
    return None if found is None else found.model.context_window


def _published(settings: ModelSettings, usage: Usage, at: datetime | None = None) -> Any | None:
    lookups = _lookups(settings)
    if not lookups:
        return None
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    counted = Counted(
        input_tokens=usage.prompt,
        output_tokens=usage.completion,
        cache_read_tokens=min(usage.cached, usage.prompt),
        cache_write_tokens=min(usage.written, max(0, usage.prompt - usage.cached)),
    )
    for lookup in lookups:
        try:
            return calc_price(counted, settings.model, genai_request_timestamp=at, **lookup)
        except LookupError:
            continue
    return None


def _lookups(settings: ModelSettings) -> list[dict[str, Any]]:
    """Where to look, best first. A foreign address is looked up by its address first: its prices are its own."""
    spec = spec_of(settings)
    by_name = [{"provider_id": name} for name in publishers(spec, settings.base_url)]
    if not settings.base_url or spec.owns_address:
        return by_name
    return [{"provider_api_url": shown_url(settings.base_url)}, *by_name]
