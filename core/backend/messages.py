"""Builds requests out of messages and tools, and the texts that the function-calling ladder adds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from core.backend.exchange import Message, Request, Tool
from utils.clean_text import whole
from utils.errors import ConfigError


def build_request(
    system_message: str | None,
    user_message: str | None,
    tools: Sequence[Mapping[str, Any]] | None = None,
    tool_choice: Mapping[str, Any] | str | None = None,
    context: Mapping[str, Any] | None = None,
) -> Request:
    """The request of a `query()` call. A prompt without a user message becomes the user's: no provider takes none."""
    system, user = whole(system_message or ""), whole(user_message or "")
    if not user:
        system, user = "", system
    if not user:
        raise ConfigError("query() needs a system_message or a user_message")
    offered = tuple(map(read_tool, tools or ()))
    if not offered or tool_choice == "none":
        return Request(system, (Message("user", user),), context=context)
    forced = _forced_name(tool_choice) or (offered[0].name if len(offered) == 1 else "")
    if forced and forced not in [tool.name for tool in offered]:
        raise ConfigError(f"tool_choice names '{forced}', which is not among the tools")
    return Request(system, (Message("user", user),), offered, forced, "tool", context)


def read_tool(tool: Mapping[str, Any]) -> Tool:
    """A tool in any of the usual forms: OpenAI's with or without the `function` wrapper, Anthropic's `input_schema`."""
    inner = tool.get("function", tool)
    try:
        name = str(inner["name"])
    except (KeyError, TypeError) as error:
        raise ConfigError(f"a tool needs a name: {json.dumps(tool, default=str)[:200]}") from error
    parameters = inner.get("parameters") or inner.get("input_schema") or {"type": "object", "properties": {}}
    return Tool(name, str(inner.get("description") or ""), parameters)


def _forced_name(choice: Mapping[str, Any] | str | None) -> str:
    if isinstance(choice, str):
        return "" if choice in ("auto", "required", "any") else choice
    if not choice:
        return ""
    inner = choice.get("function", choice)
    return str(inner.get("name") or "")


def fence_instructions(tool: Tool) -> str:
    """What is added to the prompt where a server knows neither tools nor schemas."""
    schema = json.dumps(tool.parameters, ensure_ascii=False, sort_keys=True)
    return (
        f"Answer with exactly one JSON object in a ```json fence and nothing else. It holds the arguments of "
        f"`{tool.name}` ({tool.description or 'no description'}) and follows this JSON schema:\n{schema}"
    )


def repair_instructions(tool: Tool, reason: str) -> str:
    """The request that sends an unusable reply back."""
    return f"That cannot be used: {reason}.\n{fence_instructions(tool)}"
