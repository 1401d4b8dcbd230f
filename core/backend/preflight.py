"""Checks before the first call: can every configured model be asked and paid, and what will the run cost?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.backend.hosts import key_names
from core.backend.network import host_of, is_address, is_loopback, shown_url
from core.backend.prices import cost_of, is_free, is_priced, usual_tokens
from core.backend.providers import spec_of
from core.backend.settings import ModelSettings
from utils.config_search import BudgetConfig
from utils.counts import counted
from utils.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Quote:
    """A rough estimate of a run. `tokens`, `usd` are None where it asks no model itself; `usd` also without a price."""

    steps: int
    calls: int
    tokens: int | None
    usd: float | None
    is_outside: bool = False
    """Programs come from outside, by tickets."""
    is_free: bool = False
    """Nobody sends a bill, as far as is known here."""

    def text(self, usd_cap: float | None) -> str:
        """One line for the banner; it names the cap."""
        cap = "no cap on dollars" if usd_cap is None else f"capped at ${usd_cap:.2f} by budget.usd"
        if self.tokens is None and self.is_outside:
            return f"{counted(self.steps, 'step')}, written outside of the run: what that costs is not known here"
        if self.tokens is None:
            return "rules write, no model is asked: no tokens, no cost"
        price = "price unknown" if self.usd is None else f"about ${self.usd:.2f}"
        if self.is_free:
            price, cap = "no cost counted", "set llm.*.price where a server or command of this machine passes bills on"
        asked = f"{counted(self.steps, 'step')}, some {counted(self.calls, 'call')}"
        return f"{asked}, about {self.tokens / 1000:.0f}k tokens, {price}, {cap}"


def check(roles: Mapping[str, ModelSettings], budget: BudgetConfig) -> None:
    """Raise ConfigError with one line for the first model that cannot be asked or not be paid within the cap."""
    for settings in roles.values():
        for model in settings.alternatives:
            check_model(model)
            _check_price(model, budget)


def check_model(settings: ModelSettings) -> None:
    """Raise ConfigError with one line if this model cannot be asked as it is set. Sends nothing."""
    spec_of(settings).require(settings)
    if settings.base_url and not is_address(settings.base_url):
        key = f"llm.{settings.role}.base_url={shown_url(settings.base_url)}"
        raise ConfigError(f"{key}: an address begins with http:// or https://, then has a host")
    _check_extra(settings)
    _check_key(settings)


def quote(roles: Mapping[str, ModelSettings], steps: int, *, reviews: bool = True, ideas: int = 0) -> Quote:
    """Steps × expected tokens: one call of `code` a step, one of `feedback` with `reviews`, one for `ideas` steps."""
    wanted = {"code": steps, "feedback": steps if reviews else 0, "ideas": -(-steps // ideas) if ideas else 0}
    models = [(role, roles.get(role) or roles["code"], calls) for role, calls in wanted.items() if calls]
    is_outside = any(spec_of(model).is_outside for _, model, _ in models)
    paid = [(role, model, calls) for role, model, calls in models if _is_asked_here(model)]
    if not paid:
        return Quote(steps, 0, None, None, is_outside)
    usual = [(usual_tokens(role, model), calls) for role, model, calls in paid]
    tokens = sum(calls * (tokens.prompt + tokens.completion) for tokens, calls in usual)
    costs = [(_mean_cost(role, model), calls) for role, model, calls in paid]
    usd = None if None in [cost for cost, _ in costs] else sum(calls * (cost or 0.0) for cost, calls in costs)
    free = all(is_free(arm) for _, model, _ in paid for arm in model.alternatives)
    return Quote(steps, sum(calls for *_, calls in paid), tokens, usd, is_outside, free)


def _is_asked_here(model: ModelSettings) -> bool:
    spec = spec_of(model)
    return spec.is_model and not spec.is_outside


_OURS = ("model", "stream")
"""Words of a request that a key of ours sets, by which it is priced or read."""
_LENGTHS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
_SEVERAL = ("n", "best_of", "candidate_count", "candidateCount")


def _check_extra(settings: ModelSettings) -> None:
    """That nothing in `extra` lets a reply cost more than what is reserved for it."""
    prefix = f"llm.{settings.role}"
    for name, value in settings.extra.items():
        told = f"{prefix}.extra.{name}={value}"
        if name in _OURS and value != getattr(settings, name):
            raise ConfigError(f"{told}: set {prefix}.{name}")
        if name in _LENGTHS and not (type(value) is int and value <= settings.max_tokens):
            raise ConfigError(f"{told}: set {prefix}.max_tokens ({settings.max_tokens} now), which is what is reserved")
        if name in _SEVERAL and value not in (None, 1):
            raise ConfigError(f"{told}: each reply would be billed, and the first alone is read")


def _check_key(settings: ModelSettings) -> None:
    """That there is one only where its name is known: a private endpoint may want none, and says 401 if it does."""
    names = key_names(spec_of(settings), settings.base_url)
    key = settings.key_text
    if key != key.strip() or not key.isascii() or not key.isprintable():
        raise ConfigError(
            f"llm.{settings.role}.api_key (or {' or '.join(names) or 'its variable'}): it holds what no key can: a "
            "blank or a line break at an end, a control character, or a letter beyond ASCII"
        )
    if names and settings.api_key is None and not is_loopback(host_of(settings.base_url)):
        where = f"set {' or '.join(names)} in the environment, or llm.{settings.role}.api_key"
        asked = f"base_url={shown_url(settings.base_url)}" if settings.base_url else f"provider={settings.provider}"
        raise ConfigError(f"llm.{settings.role}.{asked} needs a key: {where}")


def _check_price(settings: ModelSettings, budget: BudgetConfig) -> None:
    spec = spec_of(settings)
    if budget.usd is None or not spec.is_model or (settings.session.usd if spec.by_session else is_priced(settings)):
        return
    prefix = f"llm.{settings.role}"
    if spec.by_session:
        raise ConfigError(
            f"{prefix}.session.usd is not set, so budget.usd={budget.usd:g} cannot be kept: set it to the dollars that "
            "one session may cost (1.0 in the presets), or budget.usd=null"
        )
    asked = settings.extra_price and f" with {prefix}.extra.{settings.extra_price}"
    raise ConfigError(
        f"{prefix}.model={settings.model}: its price{asked} is not known, so budget.usd={budget.usd:g} cannot be kept; "
        f"set {prefix}.price.input and {prefix}.price.output (dollars per million tokens; llm.*.price), or "
        "budget.usd=null"
    )


def _mean_cost(role: str, settings: ModelSettings) -> float | None:
    """Dollars a call: the mean over a role's models, weighted as they are drawn; the bandit starts evenly."""
    total = weights = 0.0
    for model in settings.alternatives:
        cost = cost_of(model, usual_tokens(role, model))
        if cost is None:
            return None
        weight = model.weight if settings.choice == "weighted" else 1.0
        total += weight * cost
        weights += weight
    return total / weights
