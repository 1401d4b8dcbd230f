"""ModelSettings: which model a role talks to, and how. `core/backend/roles.py` makes it of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import SecretStr

from core.backend.network import host_of, is_loopback
from core.contracts import WriterBox, WriterDesk

_LISTED = {
    "service_tier": ("auto", "default", "standard", "standard_only", "flex"), "speed": ("standard",),
    "inference_geo": ("global",),
}  # fmt: skip
"""Words of a request that can change its price → what is paid as listed, or less: other values are dearer."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars per million tokens."""

    input: float
    output: float
    cached: float | None = None
    """For what the provider read from its own cache; None: as `input`."""


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """What one session of a coding agent may take; None for no limit. Seconds are `timeout`."""

    turns: int | None = 60
    """Replies of its models."""
    tokens: int | None = 2_000_000
    usd: float | None = None


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
    env: tuple[str, ...] = ()
    """Environment variables that a command gets besides the usual ones."""
    files: tuple[str, ...] = ()
    """Files and folders that a command may read besides its own."""
    box: WriterBox | None = field(default=None, repr=False)
    """Where a command runs; None outside of a run."""
    desk: WriterDesk | None = field(default=None, repr=False)
    """What an agent is handed and how its files are read; None outside of a run."""
    network: Literal["gateway", "open"] = "gateway"
    """Of an agent: the gateway alone, or all of it, with a login of its own."""
    session: SessionLimits = SessionLimits()
    weight: float = 1.0
    models: tuple[ModelSettings, ...] = ()
    """Alternatives to choose from; () for a single model."""
    choice: Literal["weighted", "bandit"] = "weighted"
    plugins: tuple[str, ...] = field(default=(), repr=False)
    """The user's plug-in folders, where a provider of that name may be."""

    @property
    def writer(self) -> str:
        """`provider/model` for rows and nodes, or `rules`."""
        return "rules" if self.provider == "rules" else f"{self.provider}/{self.model}"

    @property
    def key_text(self) -> str:
        return self.api_key.get_secret_value() if self.api_key else ""

    @property
    def is_local(self) -> bool:
        """True for a server on this machine, which is never behind a proxy."""
        return bool(self.base_url) and is_loopback(host_of(self.base_url))

    @property
    def extra_price(self) -> str:
        """What of `extra` asks to be served at another price than the listed one, as `name=value`; '' for nothing."""
        given = ((name, self.extra[name]) for name in _LISTED if name in self.extra)
        return next((f"{name}={value}" for name, value in given if value not in (None, *_LISTED[name])), "")

    @property
    def alternatives(self) -> tuple[ModelSettings, ...]:
        """Every single model this role may talk to."""
        return self.models or (self,)
