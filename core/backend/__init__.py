"""All language models behind one function. `query()` asks once; a run has a `ModelClient`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.backend.cache import ReplyCache
from core.backend.memory import MemoryLog
from core.backend.model_client import BoundQuery, ModelClient, NodeUsage
from core.backend.preflight import Quote, check, quote
from core.backend.providers import PROVIDER_TO_QUERY
from core.backend.settings import ModelSettings, model_settings
from core.backend.usage import Amount, Ledger
from core.contracts import CallLog, RulesWriter
from utils.config_schema import LLMSection

__all__ = [
    "PROVIDER_TO_QUERY",
    "Amount",
    "BoundQuery",
    "Ledger",
    "MemoryLog",
    "ModelClient",
    "ModelSettings",
    "NodeUsage",
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
    rules: RulesWriter | None = None,
    log: CallLog | None = None,
    seed: int = 0,
    **options: Any,
) -> str:
    """Ask a model once, with retries; nothing is cached and no budget holds.

    Args:
        model: the provider's own name for it.
        provider: a key of `PROVIDER_TO_QUERY`, or `rules`.
        api_key: None takes it from the provider's usual environment variable.
        tools: functions in OpenAI's form; `tool_choice` names the one to call.
        context, rules, seed: for `provider="rules"`: facts as plain JSON, the repertoire, the seed of the draw.
        options: further keys of the configuration's `llm.code` section: `temperature`, `max_tokens`, `timeout`, …
    Returns:
        The reply's text; with `tools`, the arguments of the tool call as JSON text.
    Raises:
        ConfigError, BackendError: see `BoundQuery`.
    """
    keys = {"model": model, "provider": provider, "api_key": api_key, "base_url": base_url, **options}
    section = LLMSection.model_validate({"code": {name: value for name, value in keys.items() if value is not None}})
    model_client = ModelClient(model_settings(section), log=log or MemoryLog(), rules=rules, run_seed=seed)
    try:
        return model_client.bind("code")(
            system_message, user_message, tools=tools, tool_choice=tool_choice, context=context
        )
    finally:
        model_client.close()
