"""Turns the configuration's `llm` section into the settings of each role, with usual keys and addresses."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import SecretStr

from core.backend.hosts import key_names
from core.backend.network import host_of, shown_url
from core.backend.provider import ProviderSpec
from core.backend.providers import PROVIDERS, spec_of
from core.backend.settings import ModelSettings, Price, SessionLimits
from core.contracts import WriterBox, WriterDesk
from utils.config_llm import LLMConfig, ModelConfig, SessionConfig
from utils.errors import ConfigError

ROLES = ("code", "feedback", "refine")
_REASONING = re.compile(r"^(o[134](-|$)|gpt-5|gpt-6|gpt-oss|codex-)")


def model_settings(
    llm: LLMConfig,
    env: Mapping[str, str] | None = None,
    plugins: Sequence[str] = (),
    box: Callable[[], WriterBox] | None = None,
    desk: WriterDesk | None = None,
) -> dict[str, ModelSettings]:
    """Return the settings by role. `feedback` and `refine` inherit from `code` every key that they do not set.

    A role that names another provider inherits neither key nor address: they belong to the provider.

    Args:
        env: the environment, where keys and addresses may be; None for the process's own.
        plugins: the user's plug-in folders (`config.plugin_folders`).
        box: makes the place where commands run; asked only if there is one.
        desk: hands programs to coding agents as files, and takes them in.
    Raises:
        ConfigError: an unknown provider, or no model where the provider needs one.
    """
    environment = os.environ if env is None else env
    code = _set_keys(llm.code)
    roles = {}
    for role in ROLES:
        own = _set_keys(getattr(llm, role))
        inherited = dict(code)
        if own.get("provider", code.get("provider")) != code.get("provider"):
            inherited = {key: value for key, value in code.items() if key in _SHARED}
        elif "model" in own:
            inherited = {key: value for key, value in code.items() if key not in ("models", "choice", "price")}
        if _moves_away(own, code):
            inherited.pop("api_key", None)
        roles[role] = _resolve(role, {**inherited, **own}, environment, tuple(plugins))
    return _boxed(roles, box, desk) if box and any(_has_command(settings) for settings in roles.values()) else roles


def with_model(settings: ModelSettings, name: str) -> ModelSettings:
    """The same provider with another of its models, which has its published price and reasons if its name says so."""
    reasons = bool(_REASONING.match(name))
    length = 32768 if reasons else settings.max_tokens
    return replace(settings, model=name, models=(), price=None, reasoning=reasons, max_tokens=length)


def calls_functions(settings: ModelSettings) -> bool:
    """True if the model can be offered functions by its provider, and nothing says that its server ignores them."""
    return spec_of(settings).has_tools and settings.tools == "tool"


def _has_command(settings: ModelSettings) -> bool:
    return any(spec_of(model).starts_program for model in settings.alternatives)


def _boxed(
    roles: dict[str, ModelSettings], make: Callable[[], WriterBox], desk: WriterDesk | None
) -> dict[str, ModelSettings]:
    box = make()

    def boxed(role: str, settings: ModelSettings) -> ModelSettings:
        arms = tuple(boxed(role, arm) for arm in settings.models)
        return replace(settings, box=box, desk=desk if role != "feedback" else None, models=arms)

    return {role: boxed(role, settings) for role, settings in roles.items()}


_SHARED = ("timeout", "attempts", "backoff")


def _moves_away(own: Mapping[str, Any], code: Mapping[str, Any]) -> bool:
    """True if `own` names another host than it inherits: the key of the one is a secret before the other."""
    address = own.get("base_url") or ""
    return bool(address) and host_of(address) != host_of(code.get("base_url") or "")


def _set_keys(section: ModelConfig) -> dict[str, Any]:
    return {name: value for name in type(section).model_fields if (value := getattr(section, name)) is not None}


def _resolve(role: str, keys: dict[str, Any], env: Mapping[str, str], plugins: tuple[str, ...]) -> ModelSettings:
    keys = dict(keys)
    choices = keys.pop("models", None) or []
    if choices:
        arms = tuple(
            _resolve(role, {**_without_price(keys, choice), **_set_keys(choice)}, env, plugins) for choice in choices
        )
        return replace(arms[0], models=arms, choice=keys.get("choice", "weighted"))
    provider = keys.get("provider") or "rules"
    spec = _provider(role, provider, plugins)
    if keys.get("base_url") == "":
        raise ConfigError(f"llm.{role}.base_url is empty; null stands for the provider's own address")
    model = _model_name(role, provider, spec, keys)
    base_url = keys.get("base_url") or env.get(spec.url_variable, "")
    price = keys.get("price")
    reasoning = keys.get("reasoning")
    plain = {name: _plain(keys[name]) for name in _PLAIN if name in keys}
    reasons = bool(_REASONING.match(model)) if reasoning is None else reasoning
    plain.setdefault("max_tokens", 32768 if reasons else 8192)
    if spec.is_outside:
        plain["tools"] = "fence"  # who reads a ticket is told in words what is wanted, and nobody repairs
    return ModelSettings(
        role=role,
        provider=provider,
        model=model,
        base_url=base_url,
        api_key=keys.get("api_key") or _usual_key(spec, keys.get("base_url") or "", env),
        price=Price(price.input, price.output, price.cached) if price else None,
        reasoning=reasons,
        plugins=plugins,
        session=_session(keys.get("session")),
        **plain,
    )


def _provider(role: str, name: str, plugins: tuple[str, ...]) -> ProviderSpec:
    try:
        return PROVIDERS.get(name, plugins)
    except ConfigError as error:
        raise ConfigError(str(error).replace("llm.*.", f"llm.{role}.", 1)) from error


def _model_name(role: str, provider: str, spec: ProviderSpec, keys: Mapping[str, Any]) -> str:
    """The model as set, or the provider's own name for it. The preset's word `rules` names no model of a provider."""
    given = str(keys.get("model") or "")
    if not spec.is_model and given not in ("", "rules"):
        own = spec.model_name(keys) or provider
        raise ConfigError(
            f"llm.{role}.model={given}: that is no model of provider '{provider}', which asks none: set "
            f"llm.{role}.model={own}, or the model's llm.{role}.provider"
        )
    if spec.is_model and given and given != "rules":
        return given
    if name := spec.model_name(keys):
        return name
    where = f"that {shown_url(keys['base_url'])} serves" if keys.get("base_url") else f"of provider '{provider}'"
    raise ConfigError(f"llm.{role}.model is not set; name a model {where}")


_PLAIN = (
    "api_version", "region", "project", "command", "temperature", "max_tokens", "stream", "tools", "timeout",
    "attempts", "backoff", "concurrency", "requests_per_minute", "context", "extra", "weight", "choice", "env", "files",
    "network",
)  # fmt: skip


def _session(given: SessionConfig | None) -> SessionLimits:
    return SessionLimits(given.turns, given.tokens, given.usd) if given else SessionLimits()


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _without_price(keys: dict[str, Any], choice: Any) -> dict[str, Any]:
    """A choice with another provider or model takes no price, and with another provider no key and address either."""
    dropped = {"price", "model"}
    if _moves_away({"base_url": choice.base_url}, keys):
        dropped.add("api_key")
    if choice.provider not in (None, keys.get("provider")):
        dropped |= {"api_key", "base_url"}
    return {key: value for key, value in keys.items() if key not in dropped}


def _usual_key(spec: ProviderSpec, base_url: str, env: Mapping[str, str]) -> SecretStr | None:
    """The key in the usual variable of this address, or None."""
    found = [env[name] for name in key_names(spec, base_url) if env.get(name)]
    return SecretStr(found[0]) if found else None
