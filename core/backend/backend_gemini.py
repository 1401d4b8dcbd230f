"""Google's Gemini, by its key; and Gemini or Claude on Vertex, Google's cloud."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from core.backend import backend_anthropic
from core.backend.answer_size import bounded_answers
from core.backend.deadline import Deadline
from core.backend.exchange import Message, Reply, Request, Usage
from core.backend.network import check_address, key_keeper
from core.backend.provider import ProviderSpec, need_package
from core.backend.settings import ModelSettings
from core.backend.stream import Collector, within_size

_BROKEN_CALL = frozenset(
    {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"}
)
_FINISH = {"STOP": "stop", "MAX_TOKENS": "length", "OTHER": "stop"}
_UNSIGNED = b"skip_thought_signature_validator"
"""Google's word for a call that comes without the thoughts behind it: the record of calls holds none."""
_ADDRESS = "https://generativelanguage.googleapis.com"
_KEY = "x-goog-api-key"
"""The header that holds the key; Vertex's is one that every HTTP client keeps from others."""


def connect(settings: ModelSettings) -> Any:
    """A client of the SDK; it does not retry by itself."""
    from google import genai

    check_address(settings.base_url or _ADDRESS)
    # v1beta is the version that has schemas and forced tools
    options = {"api_version": "v1beta", **_options(settings)}
    build: Any = genai.Client
    return build(vertexai=False, api_key=settings.key_text or "none", http_options=options)


def _is_claude(settings: ModelSettings) -> bool:
    """True for Anthropic's models, which Vertex serves through another API than Google's own."""
    return settings.model.startswith("claude")


def connect_vertex(settings: ModelSettings) -> Any:
    """The client of the model's own publisher, with an access token or the machine's own credentials."""
    if _is_claude(settings):
        return backend_anthropic.connect_vertex(settings)
    from google import genai

    check_address(settings.base_url or f"https://{settings.region or 'us-central1'}-aiplatform.googleapis.com")
    build: Any = genai.Client
    return build(
        vertexai=True,
        project=settings.project,
        location=settings.region,
        credentials=_credentials(settings),
        http_options=_options(settings),
    )


def query_vertex(client: Any, request: Request, settings: ModelSettings, deadline: Deadline) -> Reply:
    """One try, in the form of the model's own publisher."""
    send = backend_anthropic.query if _is_claude(settings) else query
    return send(client, request, settings, deadline)


def _options(settings: ModelSettings) -> dict[str, Any]:
    options: dict[str, Any] = {"timeout": int(settings.timeout * 1000)}
    given = {"base_url": settings.base_url, "api_version": settings.api_version}
    options |= {name: value for name, value in given.items() if value}
    keeper = key_keeper(settings.base_url or _ADDRESS, [_KEY])
    options["client_args"] = {"event_hooks": bounded_answers() | {"request": [keeper]}}
    if settings.is_local:
        options["client_args"]["trust_env"] = False  # HTTP_PROXY is for the world outside
    return options


def query(client: Any, request: Request, settings: ModelSettings, deadline: Deadline) -> Reply:
    """One try. Errors are the SDK's own; a stream without a finish reason raises EOFError."""
    contents = [_content(message) for message in request.messages]
    arguments = {"model": settings.model, "contents": contents, "config": _config(request, settings, deadline)}
    if settings.stream:
        return _gather(client.models.generate_content_stream(**arguments), deadline)
    return within_size(_gather([client.models.generate_content(**arguments)], deadline))


def _content(message: Message) -> dict[str, Any]:
    called = message.called
    if called is None:
        return {"role": "model" if message.role == "assistant" else "user", "parts": [{"text": message.text}]}
    if message.role == "tool":
        answer = {"name": called.sent, "response": {"result": message.text}}
        return {"role": "user", "parts": [{"function_response": answer}]}
    call: dict[str, Any] = {"function_call": {"name": called.sent, "args": dict(called.arguments)}}
    return {"role": "model", "parts": [call | {"thought_signature": _UNSIGNED}]}


def _credentials(settings: ModelSettings) -> Any:
    """The key, read as an access token; None for the machine's own credentials."""
    if not settings.api_key:
        return None
    from google.oauth2.credentials import Credentials

    return Credentials(token=settings.key_text)  # type: ignore[no-untyped-call,unused-ignore]


def _config(request: Request, settings: ModelSettings, deadline: Deadline) -> dict[str, Any]:
    config: dict[str, Any] = {
        "max_output_tokens": settings.max_tokens,
        "http_options": {"timeout": max(1, int(deadline.left * 1000))},
        "automatic_function_calling": {"disable": True},
        **settings.extra,
    }
    if request.system:
        config["system_instruction"] = request.system
    if settings.temperature is not None:
        config["temperature"] = settings.temperature
    if request.mode in ("tool", "offer", "offered"):
        declared = [
            {"name": t.name, "description": t.description, "parameters_json_schema": t.parameters}
            for t in request.tools
        ]
        names = [request.forced] if request.forced else [tool.name for tool in request.tools]
        config["tools"] = [{"function_declarations": declared}]
        mode = {"offer": "AUTO", "offered": "NONE"}.get(request.mode, "ANY")
        calling = {"mode": mode, **({"allowed_function_names": names} if mode == "ANY" else {})}
        config["tool_config"] = {"function_calling_config": calling}
    elif request.mode == "schema":
        config |= {"response_mime_type": "application/json", "response_json_schema": request.tool.parameters}
    return config


def _gather(chunks: Iterable[Any], deadline: Deadline) -> Reply:
    """One reply of one chunk or many: both have the same shape."""
    collected = Collector(deadline)
    for chunk in collected.within(chunks):
        collected.usage = _usage(chunk.usage_metadata) or collected.usage
        if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason:
            collected.finish_reason = "filter"
        for candidate in chunk.candidates or []:
            if candidate.index:  # of several replies the first is meant, and their pieces come in turns
                continue
            for part in (candidate.content and candidate.content.parts) or []:
                _add_part(collected, part)
            if candidate.finish_reason:
                collected.finish_reason = _finish(candidate.finish_reason.name)
    if collected.tool and collected.finish_reason == "stop":
        collected.finish_reason = "tool"
    return collected.reply()


def _add_part(collected: Collector, part: Any) -> None:
    if part.function_call is not None:
        if not collected.tool:
            collected.add_call(part.function_call.name or "", json.dumps(part.function_call.args or {}))
    elif part.text and not part.thought:
        collected.add_text(part.text)


def _finish(name: str) -> str:
    # A broken call is no refusal: the reply holds no call then, and the ladder goes on.
    return "stop" if name in _BROKEN_CALL else _FINISH.get(name, "filter")


def _usage(usage: Any) -> Usage | None:
    if usage is None:
        return None
    completion = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
    return Usage.counted(usage.prompt_token_count, completion, usage.cached_content_token_count)


def _check_vertex(settings: ModelSettings) -> None:
    package = ("anthropic", "anthropic") if _is_claude(settings) else ("google.genai", "gemini")
    need_package(settings, *package)


GEMINI = ProviderSpec(
    connect,
    query,
    package="google.genai",
    extra="gemini",
    key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    url_variable="GOOGLE_GEMINI_BASE_URL",
    publishers=("google",),
)
VERTEX = ProviderSpec(
    connect_vertex,
    query_vertex,
    publishers=("google", "anthropic"),
    cache_write=backend_anthropic.CACHE_WRITE,
    owns_address=True,
    client_per_model=True,
    check=_check_vertex,
)
