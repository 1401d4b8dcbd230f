"""All language models behind one function. `query()` asks once; a run has a `ModelClient`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from core.backend.cache import ReplyCache
from core.backend.memory import MemoryLog
from core.backend.model_client import BoundQuery, ModelClient, NodeUsage
from core.backend.preflight import Quote, check, check_model, quote
from core.backend.provider import ProviderSpec
from core.backend.providers import PROVIDERS
from core.backend.roles import model_settings
from core.backend.settings import ModelSettings
from core.backend.usage import Amount, Ledger
from core.contracts import CallLog, RulesWriter

__all__ = [
    "PROVIDERS",
    "PROVIDER_TO_QUERY",
    "Amount",
    "BoundQuery",
    "Ledger",
    "MemoryLog",
    "ModelClient",
    "ModelSettings",
    "NodeUsage",
    "ProviderSpec",
    "Quote",
    "ReplyCache",
    "check",
    "model_settings",
    "query",
    "quote",
]


def query(
    system_message: str | None,
    user_message: str | None,
    model: str,
    provider: str = "openai",
    api_key: str | None = None,
    base_url: str | None = None,
    tools: list[dict[str, Any]] | None = None,
    tool_choice: dict[str, Any] | str | None = None,
    *,
    context: Mapping[str, Any] | None = None,
    attempt: int = 0,
    role: str = "code",
    rules: RulesWriter | None = None,
    log: CallLog | None = None,
    seed: int = 0,
    **options: Any,
) -> str:
    """Ask a model once, with retries; nothing is cached and no budget holds.

    `partial(query, model=…)` is a `core.contracts.Query`: it can be handed to an agent.

    Args:
        model: the provider's own name for it.
        provider: a name of `PROVIDERS`.
        api_key: None takes it from the provider's usual environment variable.
        tools: functions in OpenAI's form; `tool_choice` names the one to call.
        context, rules, seed: for `provider="rules"`: facts as plain JSON, the repertoire, the seed of the draw.
        attempt: 0, 1, … where the same question is asked again; part of the call's name in `log`.
        role: what the call is for; part of its name, too.
        log: where the call is recorded; a call that it holds already is not made again.
        options: further keys of the configuration's `llm.code` section: `temperature`, `max_tokens`, `timeout`, …
    Returns:
        The reply's text; with `tools`, the arguments of the tool call as JSON text.
    Raises:
        ConfigError: the model cannot be asked as it is set (no key, no such provider, a missing package); nothing was
            sent.
        BackendError: see `BoundQuery`.
    """
    from utils.config import check_config  # OmegaConf takes a while to import, and a run has its own configuration

    given = {"model": model, "provider": provider, "api_key": api_key, "base_url": base_url, **options}
    keys = {name: value for name, value in given.items() if value is not None}
    roles = model_settings(check_config({"llm": {"code": keys}}).llm)
    for settings in roles["code"].alternatives:
        check_model(settings)
    client = ModelClient(roles, log=log or MemoryLog(), rules=rules, run_seed=seed)
    try:
        return client.bind(role or "code")(
            system_message, user_message, tools=tools, tool_choice=tool_choice, context=context, attempt=attempt
        )
    finally:
        client.close()


class _Queries(Mapping[str, Callable[..., str]]):
    """`query` by provider. The table of providers is read when it is asked, not at import."""

    def __getitem__(self, name: str) -> Callable[..., str]:
        if name not in PROVIDERS.names():
            raise KeyError(name)
        return partial(query, provider=name)

    def __iter__(self) -> Iterator[str]:
        return iter(PROVIDERS.names())

    def __len__(self) -> int:
        return len(PROVIDERS.names())


PROVIDER_TO_QUERY = _Queries()
"""Provider → `query` bound to it: `PROVIDER_TO_QUERY["anthropic"](system_message, user_message, model)`."""
