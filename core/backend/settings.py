"""ModelSettings: which model a role talks to, and how; made of the configuration's `llm` section."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Literal

from pydantic import SecretStr

from core.backend.network import host_of, is_loopback, shown_url
from utils.config_schema import LLMSection, ModelSection
from utils.errors import ConfigError

ROLES = ("code", "feedback", "refine")
USUAL_KEYS: dict[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "azure": ("AZURE_OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
"""Provider → environment variables where its key usually is. Bedrock and Vertex take the cloud's own credentials."""

HOST_KEYS: dict[str, tuple[str, ...]] = {
    "api.openai.com": USUAL_KEYS["openai"],
    "api.deepseek.com": ("DEEPSEEK_API_KEY",),
    "open.bigmodel.cn": ("ZHIPUAI_API_KEY",),
    "api.z.ai": ("ZAI_API_KEY",),
}
"""Host of a compatible endpoint → variables. A key is never sent to a host it was not made for."""

USUAL_URLS = {
    "openai": "OPENAI_BASE_URL",
    "azure": "AZURE_OPENAI_ENDPOINT",
    "anthropic": "ANTHROPIC_BASE_URL",
    "gemini": "GOOGLE_GEMINI_BASE_URL",
}
KEYED = frozenset(USUAL_KEYS)
OWN_MACHINE = frozenset({"rules", "command"})
_REASONING = re.compile(r"^(o[134](-|$)|gpt-5|gpt-6|gpt-oss)")


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens."""

    input: float
    output: float


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One role's model with every key resolved. The key itself never shows in `repr`."""

    role: str = "code"
    provider: str = "rules"
    model: str = "rules"
    api_key: SecretStr | None = None
    base_url: str = field(default="", repr=False)
    """'' for the provider's own address. May hold user:password, so it is shown through `shown_url` only."""
    api_version: str | None = None
    region: str | None = None
    project: str | None = None
    command: str | None = None
    temperature: float | None = None
    max_tokens: int = 8192
    """Always sent, since an unbounded reply has no worst case to reserve."""
    reasoning: bool = False
    stream: bool = False
    tools: Literal["tool", "schema", "fence"] = "tool"
    """Where the function-calling ladder starts."""
    timeout: float = 300.0
    attempts: int = 5
    backoff: float = 10.0
    concurrency: int = 8
    requests_per_minute: float | None = None
    context: int | None = None
    price: Price | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1.0
    models: tuple[ModelSettings, ...] = ()
    """Alternatives to choose from; () for a single model."""
    choice: Literal["weighted", "bandit"] = "weighted"

    @property
    def writer(self) -> str:
        """`provider/model` for rows and nodes, or `rules`."""
        return "rules" if self.provider == "rules" else f"{self.provider}/{self.model}"

    @property
    def key_text(self) -> str:
        return self.api_key.get_secret_value() if self.api_key else ""

    @property
    def is_free(self) -> bool:
        """True where nobody sends a bill: this machine's own server or command, no price set."""
        if self.price is not None:
            return False
        return self.provider in OWN_MACHINE or self.is_local

    @property
    def is_local(self) -> bool:
        """True for a server on this machine: free unless a price is set, and never behind a proxy."""
        return bool(self.base_url) and is_loopback(host_of(self.base_url))

    @property
    def alternatives(self) -> tuple[ModelSettings, ...]:
        """Every single model this role may talk to."""
        return self.models or (self,)


def model_settings(llm: LLMSection, env: Mapping[str, str] | None = None) -> dict[str, ModelSettings]:
    """Settings by role, with `feedback` and `refine` inheriting from `code` every key they do not set.

    A role that names another provider inherits neither key nor address: they belong to the provider.
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
        roles[role] = _resolve(role, {**inherited, **own}, environment)
    return roles


_SHARED = ("timeout", "attempts", "backoff")


def _moves_away(own: Mapping[str, Any], code: Mapping[str, Any]) -> bool:
    """True if `own` names another host than it inherits: the key of the one is a secret before the other."""
    address = own.get("base_url") or ""
    return bool(address) and host_of(address) != host_of(code.get("base_url") or "")


def _set_keys(section: ModelSection) -> dict[str, Any]:
    return {name: value for name in type(section).model_fields if (value := getattr(section, name)) is not None}


def _resolve(role: str, keys: dict[str, Any], env: Mapping[str, str]) -> ModelSettings:
    keys = dict(keys)
    choices = keys.pop("models", None) or []
    if choices:
        arms = tuple(_resolve(role, {**_without_price(keys, choice), **_set_keys(choice)}, env) for choice in choices)
        return replace(arms[0], models=arms, choice=keys.get("choice", "weighted"))
    provider = keys.get("provider") or "rules"
    model = _model_name(role, provider, keys)
    base_url = keys.get("base_url") or env.get(USUAL_URLS.get(provider, ""), "")
    price = keys.get("price")
    reasoning = keys.get("reasoning")
    plain = {name: keys[name] for name in _PLAIN if name in keys}
    reasons = bool(_REASONING.match(model)) if reasoning is None else reasoning
    plain.setdefault("max_tokens", 32768 if reasons else 8192)
    return ModelSettings(
        role=role,
        provider=provider,
        model=model,
        base_url=base_url,
        api_key=keys.get("api_key") or _usual_key(provider, keys.get("base_url") or "", env),
        price=Price(price.input, price.output) if price else None,
        reasoning=reasons,
        **plain,
    )


def _model_name(role: str, provider: str, keys: Mapping[str, Any]) -> str:
    """The model as set; a command is called by its program. The preset's word `rules` names no model of a provider."""
    given = str(keys.get("model") or "")
    if provider == "rules" and given not in ("", "rules"):
        raise ConfigError(f"llm.{role}.model={given}: its provider is 'rules'; set llm.{role}.provider too")
    if provider == "rules":
        return "rules"
    if given and given != "rules":
        return given
    if provider == "command":
        return PurePath((keys.get("command") or "command").split()[0]).name
    where = f"that {shown_url(keys['base_url'])} serves" if keys.get("base_url") else f"of provider '{provider}'"
    raise ConfigError(f"llm.{role}.model is not set; name a model {where}")


_PLAIN = (
    "api_version", "region", "project", "command", "temperature", "max_tokens", "stream", "tools", "timeout",
    "attempts", "backoff", "concurrency", "requests_per_minute", "context", "extra", "weight", "choice",
)  # fmt: skip


def _without_price(keys: dict[str, Any], choice: Any) -> dict[str, Any]:
    """A choice with another provider or model takes no price, and with another provider no key and address either."""
    dropped = {"price", "model"}
    if _moves_away({"base_url": choice.base_url}, keys):
        dropped.add("api_key")
    if choice.provider not in (None, keys.get("provider")):
        dropped |= {"api_key", "base_url"}
    return {key: value for key, value in keys.items() if key not in dropped}


def _usual_key(provider: str, base_url: str, env: Mapping[str, str]) -> SecretStr | None:
    """The key of the provider's usual variable, or None; for another host only the variable of that host."""
    for name in key_names(provider, base_url):
        if env.get(name):
            return SecretStr(env[name])
    return None


def key_names(provider: str, base_url: str) -> tuple[str, ...]:
    """Environment variables where the key of this endpoint usually is; () where none is usual."""
    if provider not in KEYED:
        return ()
    if not base_url or provider == "azure":
        return USUAL_KEYS[provider]
    return HOST_KEYS.get(host_of(base_url), ())
