"""PROVIDERS: the table of everything that can be asked for a reply, by the name that `llm.*.provider` takes."""

from __future__ import annotations

from functools import lru_cache

from core.backend.provider import ProviderSpec
from core.backend.settings import ModelSettings
from utils.registry import Registry

PROVIDERS: Registry[ProviderSpec] = Registry(
    key="llm.*.provider",
    kind="providers",
    attribute="PROVIDER",
    spec=ProviderSpec,
    builtin={
        "rules": "core.backend.backend_rules:RULES",
        "openai": "core.backend.backend_openai:OPENAI",
        "openai-responses": "core.backend.backend_openai_responses:OPENAI_RESPONSES",
        "anthropic": "core.backend.backend_anthropic:ANTHROPIC",
        "gemini": "core.backend.backend_gemini:GEMINI",
        "azure": "core.backend.backend_openai:AZURE",
        "bedrock": "core.backend.backend_anthropic:BEDROCK",
        "vertex": "core.backend.backend_gemini:VERTEX",
        "external": "core.backend.backend_external:EXTERNAL",
        "command": "core.backend.backend_command:COMMAND",
        "agent": "core.backend.backend_agent:AGENT",
    },
)


def spec_of(settings: ModelSettings) -> ProviderSpec:
    """What is known of the settings' provider. Raises ConfigError for a provider that nobody knows."""
    return _found(settings.provider, settings.plugins)


@lru_cache
def _found(provider: str, plugins: tuple[str, ...]) -> ProviderSpec:
    """Asked several times a call: folders are looked through once a process."""
    return PROVIDERS.get(provider, plugins)
