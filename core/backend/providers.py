"""Providers by name. Each module offers `connect` (a client, SDK loaded there) and `query` (one attempt)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.backend import backend_anthropic, backend_command, backend_gemini, backend_openai
from core.backend.deadline import Deadline
from core.backend.exchange import Reply, Request
from core.backend.settings import ModelSettings


def is_claude(settings: ModelSettings) -> bool:
    """True for Anthropic's models, which Vertex serves through another API than Google's own."""
    return settings.model.startswith("claude")


def _connect_vertex(settings: ModelSettings) -> Any:
    connect = backend_anthropic.connect if is_claude(settings) else backend_gemini.connect
    return connect(settings)


def _query_vertex(client: Any, request: Request, settings: ModelSettings, deadline: Deadline) -> Reply:
    send = backend_anthropic.query if is_claude(settings) else backend_gemini.query
    return send(client, request, settings, deadline)


PROVIDER_TO_QUERY: dict[str, Callable[[Any, Request, ModelSettings, Deadline], Reply]] = {
    "openai": backend_openai.query,
    "azure": backend_openai.query,
    "anthropic": backend_anthropic.query,
    "bedrock": backend_anthropic.query,
    "gemini": backend_gemini.query,
    "vertex": _query_vertex,
    "command": backend_command.query,
}
PROVIDER_TO_CLIENT: dict[str, Callable[[ModelSettings], Any]] = {
    "openai": backend_openai.connect,
    "azure": backend_openai.connect,
    "anthropic": backend_anthropic.connect,
    "bedrock": backend_anthropic.connect,
    "gemini": backend_gemini.connect,
    "vertex": _connect_vertex,
    "command": backend_command.connect,
}
PROVIDERS = ("rules", *PROVIDER_TO_QUERY)
