"""OpenAI's chat completions, every endpoint that speaks them, and deployments on Azure."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, urlencode

from core.backend.answer_size import quoted
from core.backend.chat_endpoint import ChatEndpoint, ServerFault, events, joined
from core.backend.deadline import Deadline
from core.backend.exchange import Message, Reply, Request, Usage
from core.backend.network import check_address
from core.backend.provider import ProviderSpec
from core.backend.settings import ModelSettings
from core.backend.stream import Collector, within_size
from utils.errors import ConfigError

_FINISH = {
    "stop": "stop", "tool_calls": "tool", "function_call": "tool", "length": "length", "content_filter": "filter",
    "max_tokens": "length", "model_length": "length", "model_context_window_exceeded": "length", "sensitive": "filter",
}  # fmt: skip
"""OpenAI's words, and what others say in their place: Mistral `model_length`, Z.ai `sensitive`."""
_BROKEN = frozenset({"error", "network_error", "insufficient_system_resource", "abort"})
"""Words for a model that was lost in the middle: OpenRouter's, Z.ai's, DeepSeek's and vLLM's."""
QUESTION = "does base_url end with the API's path (/v1)?"
_NEWER = "max_completion_tokens"
BROKE_OFF = "the server broke off in the middle of the reply"
_OWN_ADDRESS = "https://api.openai.com/v1"
_PATH = "chat/completions"
_ACCOUNT = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
"""Headers that say whose bill it is, by the variables that hold them."""


def connect(settings: ModelSettings) -> ChatEndpoint:
    """OpenAI's own address, or any that speaks as it does."""
    return endpoint_of(settings, _PATH)


def endpoint_of(settings: ModelSettings, path: str) -> ChatEndpoint:
    """What `path` is below OpenAI's own address, or below any that speaks as it does."""
    key = settings.key_text or "none"  # servers on this machine need none
    headers = {name: os.environ[variable] for name, variable in _ACCOUNT.items() if os.environ.get(variable)}
    headers |= {"Authorization": f"Bearer {key}"}
    return _endpoint(joined(settings.base_url or _OWN_ADDRESS, path), headers, settings)


def connect_azure(settings: ModelSettings) -> ChatEndpoint:
    """A deployment of the user's on Azure."""
    path = f"openai/deployments/{quote(settings.model, safe='')}/{_PATH}"
    url = joined(settings.base_url, path, urlencode({"api-version": settings.api_version or "2024-10-21"}))
    return _endpoint(url, {"api-key": settings.key_text}, settings)


def _endpoint(url: str, headers: dict[str, str], settings: ModelSettings) -> ChatEndpoint:
    endpoint = ChatEndpoint(url, headers, settings)
    check_address(url)
    return endpoint


def query(client: ChatEndpoint, request: Request, settings: ModelSettings, deadline: Deadline) -> Reply:
    """One try. A stream without a finish reason raises EOFError."""
    modern = settings.reasoning or not settings.base_url  # only OpenAI itself is sure to know the newer word
    return _send(client, _arguments(request, settings, _NEWER if modern else "max_tokens"), settings, deadline)


def query_azure(client: ChatEndpoint, request: Request, settings: ModelSettings, deadline: Deadline) -> Reply:
    """One try at a deployment on Azure."""
    return _send(client, _arguments(request, settings, _NEWER), settings, deadline)


def _send(endpoint: ChatEndpoint, body: dict[str, Any], settings: ModelSettings, deadline: Deadline) -> Reply:
    if not settings.stream:
        answer = endpoint.post(body, deadline)
        if answer.lstrip().startswith(b"data:"):  # from a server that streams whatever it is asked
            return _read_stream(map(_chunk, events([answer])), deadline)
        return _read(parsed(answer))
    body |= {"stream": True, "stream_options": {"include_usage": True}}
    with endpoint.stream(body, deadline) as told:
        return _read_stream(map(_chunk, told), deadline)


def _arguments(request: Request, settings: ModelSettings, length: str) -> dict[str, Any]:
    messages = [{"role": "system", "content": request.system}] if request.system else []
    messages += [_message(message) for message in request.messages]
    arguments: dict[str, Any] = {"model": settings.model, "messages": messages, length: settings.max_tokens}
    if settings.temperature is not None and not settings.reasoning:
        arguments["temperature"] = settings.temperature
    if request.mode in ("tool", "offer", "offered"):
        arguments["tools"] = [
            {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
            for t in request.tools
        ]
        forced = {"type": "function", "function": {"name": request.forced}}
        wanted = {"offer": "auto", "offered": "none"}.get(request.mode, "required")
        arguments["tool_choice"] = forced if request.forced else wanted
    elif request.mode == "schema":
        schema = {"name": request.tool.name, "schema": request.tool.parameters}
        arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
    return arguments | dict(settings.extra)


def _message(message: Message) -> dict[str, Any]:
    called = message.called
    if called is None:
        return {"role": message.role, "content": message.text}
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": called.id, "content": message.text}
    call = {"id": called.id, "type": "function", "function": {"name": called.sent, "arguments": called.text}}
    return {"role": "assistant", "content": message.text or None, "tool_calls": [call]}


class Object(dict[str, Any]):
    """An object of an answer; what it lacks is None."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)


def parsed(body: bytes) -> Any:
    """An answer's JSON. ValueError where it is none."""
    try:
        return json.loads(body, object_hook=Object)
    except (ValueError, RecursionError):
        raise ValueError(f"the server's answer is no JSON, or not all of it; {QUESTION}{quoted(body)}") from None


def _chunk(event: bytes) -> Any:
    """An event of a stream. ValueError where it is none; ServerFault where the server says why it breaks off."""
    found = parsed(event)
    if not isinstance(found, Object):
        raise ValueError(f"a piece of the stream is no JSON object.{quoted(found)}")
    if found.get("error"):
        raise ServerFault(found)
    return found


def _read(answer: Any) -> Reply:
    choices = getattr(answer, "choices", None)
    said = _error_of(answer)
    if said and not choices:
        fault = ServerFault(answer)
        if type(fault.code) is int and 400 <= fault.code < 500:  # with another one the model may have been asked
            raise fault
        raise ValueError(f"the server answers with an error in place of a reply: {said}")
    if not isinstance(choices, list) or not choices or getattr(choices[0], "message", None) is None:
        raise ValueError(f"the server's answer is not a chat completion; {QUESTION}{quoted(answer)}")
    choice = choices[0]
    calls = choice.message.tool_calls or []
    function = calls[0].function if calls else None
    if not choice.finish_reason:
        raise EOFError("the answer has no finish reason: it was cut off")
    reply = Reply(
        text=_said(choice.message.content),
        tool=function.name if function else "",
        arguments=written(function.arguments) if function else "",
        finish_reason=_finish(choice.finish_reason, choice.message.refusal),
        usage=usage_of(answer.usage),
    )
    return within_size(reply)


def _said(content: Any) -> Any:
    """The text of a content. Some servers tell it in parts, the model's thoughts among them (Mistral's do)."""
    if not isinstance(content, list):
        return content or ""
    return "".join(part["text"] for part in content if isinstance(part, dict) and part.get("type") == "text")


def written(arguments: Any) -> Any:
    """A call's arguments as text, also where a server hands on what it has read of them."""
    return json.dumps(arguments) if isinstance(arguments, Object) else arguments or ""


def _finish(told: Any, refusal: Any) -> str:
    """Our word for why it ended. A refusal comes with the word of a reply that is whole, and with no text.

    EOFError where a gateway lost the model in the middle (OpenRouter): what has come of the reply may be billed.
    """
    word = str(told).lower()
    if word in _BROKEN:
        raise EOFError(BROKE_OFF)
    return "filter" if refusal else _FINISH.get(word, "stop")


def _error_of(answer: Any) -> str:
    """What is told with the status 200 where a gateway began its answer before it knew of an error; else ''."""
    return message_of(getattr(answer, "error", None))


def message_of(error: Any) -> str:
    """What an error tells; '' where it has no words."""
    said = error.get("message") if isinstance(error, dict) else error
    return said if isinstance(said, str) else ""


def _read_stream(stream: Iterable[Any], deadline: Deadline) -> Reply:
    collected = Collector(deadline)
    try:
        return _gathered(stream, collected)
    except ServerFault as fault:
        if not collected.began:  # else it is no refusal, whatever it calls itself: a part of the reply may be billed
            raise
        broke = EOFError(f"{BROKE_OFF}: {message_of(fault.body)}")
    raise broke


def _gathered(stream: Iterable[Any], collected: Collector) -> Reply:
    refusal = None
    for chunk in collected.within(stream):
        if _is_whole(chunk):  # from a server that does not stream
            return _read(chunk)
        collected.usage = usage_of(chunk.usage) or collected.usage
        for choice in chunk.choices or []:
            if choice.index:  # of several replies the first is meant, and their pieces come in turns
                continue
            delta: Any = choice.delta or Object()  # Azure sends pieces that hold nothing but what its filter found
            refusal = refusal or delta.refusal
            collected.add_text(_said(delta.content))
            for call in delta.tool_calls or []:
                if call.index in (0, None) and call.function:
                    collected.add_call(call.function.name or "", written(call.function.arguments))
            if choice.finish_reason:
                collected.finish_reason = _finish(choice.finish_reason, refusal)
    return collected.reply()


def _is_whole(chunk: Any) -> bool:
    first = chunk.choices[0] if isinstance(chunk.choices, list) and chunk.choices else None
    return getattr(first, "message", None) is not None and getattr(first, "delta", None) is None


def usage_of(told: Any, prompt: str = "prompt", completion: str = "completion") -> Usage | None:
    """What a reply took, by the words that an API has for a prompt and what is written to it; None for no counts."""
    asked, replied = (getattr(told, f"{name}_tokens", None) for name in (prompt, completion))
    details = getattr(told, f"{prompt}_tokens_details", None)
    usage = Usage.counted(asked, replied, getattr(details, "cached_tokens", None))
    return usage and usage.within(getattr(told, "total_tokens", None)).at(*_costs(told))


def _costs(told: Any) -> list[Any]:
    """What OpenRouter bills; where it asks with the user's own key of a provider, also what that provider does."""
    costs = [getattr(told, "cost", None)]
    if getattr(told, "is_byok", None) is True:
        costs.append(getattr(getattr(told, "cost_details", None), "upstream_inference_cost", None))
    return costs


def _check_azure(settings: ModelSettings) -> None:
    if not settings.base_url:
        prefix = f"llm.{settings.role}"
        raise ConfigError(f"{prefix}.provider=azure needs {prefix}.base_url, the address of your Azure resource")


OPENAI = ProviderSpec(
    connect,
    query,
    package="httpx2",
    key_variables=("OPENAI_API_KEY",),
    url_variable="OPENAI_BASE_URL",
    publishers=("openai",),
)
AZURE = ProviderSpec(
    connect_azure,
    query_azure,
    package="httpx2",
    key_variables=("AZURE_OPENAI_API_KEY",),
    url_variable="AZURE_OPENAI_ENDPOINT",
    publishers=("azure",),
    owns_address=True,
    client_per_model=True,
    check=_check_azure,
)
