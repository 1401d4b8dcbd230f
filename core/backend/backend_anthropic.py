"""Anthropic's messages, and Claude on Bedrock and Vertex by the clients that the SDK ships."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Any

from core.backend.answer_size import bounded_answers, quoted
from core.backend.deadline import Deadline
from core.backend.exchange import Message, Reply, Request, Usage
from core.backend.network import check_address, direct, host_of, key_keeper
from core.backend.provider import ProviderSpec, is_installed
from core.backend.settings import ModelSettings
from core.backend.stream import Collector, within_size
from utils.errors import ConfigError

_ADDRESS = "https://api.anthropic.com"
_KEYS = ("x-api-key", "authorization")
"""Headers that may hold the key, by the SDK's version."""
_BREAKPOINT = {"cache_control": {"type": "ephemeral"}}
"""What stands before it is kept by the provider for minutes, and read again at a tenth of the price."""
CACHE_WRITE = 1.25
"""What is written there for minutes costs so much more."""
BLOCK_SIZE = 4_000
"""Characters: about the thousand tokens from which on a provider keeps anything."""
_CHOICE = {"offer": {"type": "auto", "disable_parallel_tool_use": True}, "offered": {"type": "none"}}
_FINISH = {
    "end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool", "max_tokens": "length",
    "model_context_window_exceeded": "length", "refusal": "filter",
}  # fmt: skip


def connect(settings: ModelSettings) -> Any:
    """A client of the SDK with its own retries off."""
    import anthropic

    named = _named_headers()
    options = _options(settings, key_keeper(settings.base_url or _ADDRESS, [*_KEYS, *named]))
    if settings.base_url:  # the SDK adds the version, which people write too, as OpenAI's want it
        options["base_url"] = settings.base_url.rstrip("/").removesuffix("/v1")
    client: Any = anthropic.Anthropic(api_key=settings.key_text or "none", **options)
    if host_of(settings.base_url) != host_of(os.environ.get("ANTHROPIC_BASE_URL", "")):
        for name in named:  # the SDK reads them itself, and one that it is told to omit hides the key
            client._custom_headers.pop(name, None)
    return _checked(client)


def _named_headers() -> list[str]:
    """Names of the headers that the environment has for its own address, logins among them, and that the SDK would send
    to any other one."""
    lines = [line.partition(":") for line in os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")]
    return [name.strip() for name, colon, _ in lines if colon and name.strip()]


def connect_bedrock(settings: ModelSettings) -> Any:
    """The client for Amazon's cloud, with a bearer key or the machine's own credentials."""
    import anthropic

    key = settings.key_text or None
    return _checked(anthropic.AnthropicBedrock(aws_region=settings.region, api_key=key, **_options(settings)))


def connect_vertex(settings: ModelSettings) -> Any:
    """The client for Google's cloud, with an access token or the machine's own credentials."""
    import anthropic

    given = {"region": settings.region, "project_id": settings.project, **_options(settings)}
    options = {name: value for name, value in given.items() if value is not None}
    return _checked(anthropic.AnthropicVertex(access_token=settings.key_text or None, **options))


def _options(settings: ModelSettings, *keepers: Callable[[Any], None]) -> dict[str, Any]:
    import anthropic

    options: dict[str, Any] = {"max_retries": 0, "timeout": settings.timeout, "base_url": settings.base_url or None}
    more: dict[str, Any] = {}
    if settings.is_local:
        # this SDK reads HTTP_PROXY even with trust_env off, so its mounts go too
        more = direct(settings.base_url) | {"mounts": {"http://": None, "https://": None, "all://": None}}
    hooks = bounded_answers() | {"request": [*keepers]}
    return options | {"http_client": anthropic.DefaultHttpxClient(event_hooks=hooks, **more)}


def _checked(client: Any) -> Any:
    check_address(str(client.base_url))
    _ = client.messages  # the SDK imports a second's worth of modules here, which is no part of a call's deadline
    return client


def query(client: Any, request: Request, settings: ModelSettings, deadline: Deadline) -> Reply:
    """One try. Errors are the SDK's own; a stream without a stop reason raises EOFError."""
    arguments = _arguments(request, settings)
    if not settings.stream:
        return _read(client.messages.create(**arguments, timeout=deadline.left))
    with client.messages.create(**arguments, stream=True, timeout=deadline.left) as stream:
        return _read_stream(stream, deadline)


def _arguments(request: Request, settings: ModelSettings) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "model": settings.model,
        "max_tokens": settings.max_tokens,
        "messages": [_message(message) for message in request.messages],
    }
    if request.messages[0].role == "user":
        arguments["messages"][0]["content"] = _cacheable(request.messages[0].text)
    if request.messages[-1].role == "tool":  # the next request begins with all of this one
        arguments["messages"][-1]["content"][0] |= _BREAKPOINT
    if request.system:
        arguments["system"] = [_block(request.system) | _BREAKPOINT]
    # Not sent where it is not set: newer models take no temperature. The API's scale ends at 1.
    if settings.temperature is not None and not settings.reasoning:
        arguments["temperature"] = min(settings.temperature, 1.0)
    if request.mode in ("tool", "offer", "offered"):
        arguments["tools"] = [
            {"name": t.name, "description": t.description, "input_schema": t.parameters} for t in request.tools
        ]
        wanted = _CHOICE.get(request.mode, {"type": "any"})
        arguments["tool_choice"] = {"type": "tool", "name": request.forced} if request.forced else wanted
    elif request.mode == "schema":
        schema = {**request.tool.parameters, "additionalProperties": False}
        arguments["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return arguments | ({"extra_body": dict(settings.extra)} if settings.extra else {})


def _message(message: Message) -> dict[str, Any]:
    called = message.called
    if called is None:
        return {"role": message.role, "content": message.text}
    if message.role == "tool":
        result = {"type": "tool_result", "tool_use_id": called.id, "content": message.text}
        return {"role": "user", "content": [result]}
    call = {"type": "tool_use", "id": called.id, "name": called.sent, "input": dict(called.arguments)}
    said = [_block(message.text)] if message.text.strip() else []
    return {"role": "assistant", "content": [*said, call]}


def _block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _cacheable(text: str) -> list[dict[str, Any]]:
    """The text in blocks, with a breakpoint after the last but the newest part.

    A prompt grows at the end of its memory. Blocks are cut from the beginning at the first end of a line after
    BLOCK_SIZE characters, so that two prompts in a row begin with the same blocks, and the provider finds in its cache
    what it was sent before: it looks back over twenty of them. What is behind the breakpoint was never sent before.
    None is blank: that is refused.
    """
    starts, place, end = [0], 0, len(text.rstrip())
    while end - place > 2 * BLOCK_SIZE and 0 <= (cut := text.find("\n", place + BLOCK_SIZE)) < end:
        place = cut + 1
        starts.append(place)
    blocks = [_block(text[start:end]) for start, end in pairwise([*starts, len(text)])]
    if len(blocks) > 1:
        blocks[-2] |= _BREAKPOINT
    return blocks


def _read(answer: Any) -> Reply:
    content = getattr(answer, "content", None)
    if not isinstance(content, list):
        told = answer.to_dict(warnings=False) if hasattr(answer, "to_dict") else answer
        raise ValueError(f"the server's answer is not a message; is base_url right?{quoted(told)}")
    if not answer.stop_reason:
        raise EOFError("the answer has no stop reason: it was cut off")
    calls = [block for block in content if block.type == "tool_use"]
    reply = Reply(
        text="".join(block.text for block in content if block.type == "text"),
        tool=calls[0].name if calls else "",
        arguments=_arguments_text(json.dumps(calls[0].input)) if calls else "",
        finish_reason=_FINISH.get(answer.stop_reason, "stop"),
        usage=_usage(answer.usage, None),
    )
    return within_size(reply)


def _arguments_text(text: str) -> str:
    # Arguments that were not JSON come as a string inside the block.
    value = json.loads(text)
    return value if isinstance(value, str) else text


def _read_stream(stream: Iterable[Any], deadline: Deadline) -> Reply:
    collected = Collector(deadline)
    blocks: list[int] = []
    for event in collected.within(stream):
        if event.type == "message_start":
            collected.usage = _usage(event.message.usage, None)
        elif event.type == "content_block_start" and event.content_block.type == "tool_use":
            blocks.append(event.index)
            if blocks[0] == event.index:
                collected.add_call(event.content_block.name, "")
        elif event.type == "content_block_delta":
            if event.delta.type == "text_delta":
                collected.add_text(event.delta.text)
            elif event.delta.type == "input_json_delta" and blocks[:1] == [event.index]:
                collected.add_call("", event.delta.partial_json)
        elif event.type == "message_delta":
            if event.delta.stop_reason:
                collected.finish_reason = _FINISH.get(event.delta.stop_reason, "stop")
            collected.usage = _usage(event.usage, collected.usage)
    return collected.reply()


def _usage(usage: Any, before: Usage | None) -> Usage | None:
    """Tokens; the last event of a stream may tell the output only, or a prompt of 0: then it is what the first told."""
    fresh, completion = getattr(usage, "input_tokens", None), getattr(usage, "output_tokens", None)
    cached, written = (getattr(usage, f"cache_{kind}_input_tokens", None) for kind in ("read", "creation"))
    if before is not None and (fresh is None or not (fresh or cached or written)):
        return Usage.counted(before.prompt, completion, before.cached, before.written) or before
    told = Usage.counted(fresh, completion, cached, written)
    if told is None:
        return before
    told = replace(told, prompt=told.prompt + told.cached + told.written)
    return told if before is None or told.prompt >= before.prompt else replace(before, completion=told.completion)


def _check_bedrock(settings: ModelSettings) -> None:
    if not settings.api_key and not is_installed("boto3"):
        raise ConfigError("provider 'bedrock' needs the package boto3 (or a bearer key): pip install boto3")


ANTHROPIC = ProviderSpec(
    connect,
    query,
    package="anthropic",
    key_variables=("ANTHROPIC_API_KEY",),
    url_variable="ANTHROPIC_BASE_URL",
    publishers=("anthropic",),
    cache_write=CACHE_WRITE,
)
BEDROCK = ProviderSpec(
    connect_bedrock,
    query,
    package="anthropic",
    publishers=("aws", "anthropic"),
    cache_write=CACHE_WRITE,
    owns_address=True,
    check=_check_bedrock,
)
