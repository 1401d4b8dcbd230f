"""OpenAI's responses, which some of its models speak alone (`gpt-5-pro`, `o3-pro`, those for Codex), and every endpoint
that speaks them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from core.backend.answer_size import quoted
from core.backend.backend_openai import (
    BROKE_OFF,
    QUESTION,
    Object,
    endpoint_of,
    message_of,
    parsed,
    usage_of,
    written,
)
from core.backend.chat_endpoint import ChatEndpoint, ServerFault
from core.backend.deadline import Deadline
from core.backend.exchange import Message, Reply, Request
from core.backend.provider import ProviderSpec
from core.backend.settings import ModelSettings
from core.backend.stream import Collector, within_size
from utils.errors import ConfigError

_BEFORE = frozenset({"response.created", "response.queued", "response.in_progress"})
"""Events before the model has written or thought anything."""
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
_POLICIES = frozenset({"invalid_prompt", "bio_policy", "cyber_policy"})
"""Words of an error for what a prompt or the reply to it is withheld for."""
_STATUS = {
    "invalid_api_key": 401, "insufficient_quota": 429, "rate_limit_exceeded": 429, "server_is_overloaded": 503,
    "slow_down": 503, "context_length_exceeded": 400, **dict.fromkeys(_POLICIES, 400),
}  # fmt: skip
"""The status that an error would have had, had the answer not begun with 200, by its word."""


def connect(settings: ModelSettings) -> ChatEndpoint:
    """OpenAI's own address, or any that speaks as it does."""
    return endpoint_of(settings, "responses")


def query(client: ChatEndpoint, request: Request, settings: ModelSettings, deadline: Deadline) -> Reply:
    """One try. A reply without its end raises EOFError."""
    body = _arguments(request, settings)
    if not settings.stream:
        return within_size(_gather([_whole(parsed(client.post(body, deadline)))], deadline))
    with client.stream(body | {"stream": True}, deadline) as events:
        return _gather(map(_event, events), deadline)


def _arguments(request: Request, settings: ModelSettings) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "model": settings.model,
        "input": [item for message in request.messages for item in _items(message)],
        "max_output_tokens": settings.max_tokens,
        "store": False,
    }
    if request.system:
        arguments["instructions"] = request.system
    if settings.temperature is not None and not settings.reasoning:
        arguments["temperature"] = settings.temperature
    if request.mode in ("tool", "offer", "offered"):
        arguments["tools"] = [  # strict where it is not said: then a schema with an optional property is refused
            {"type": "function", "name": t.name, "description": t.description, "parameters": t.parameters,
             "strict": False}
            for t in request.tools
        ]  # fmt: skip
        wanted = {"offer": "auto", "offered": "none"}.get(request.mode, "required")
        arguments["tool_choice"] = {"type": "function", "name": request.forced} if request.forced else wanted
    elif request.mode == "schema":
        schema = {"type": "json_schema", "name": request.tool.name, "schema": request.tool.parameters}
        arguments["text"] = {"format": schema}
    more = dict(settings.extra)
    if isinstance(more.get("text"), Mapping):  # `verbosity` stands beside the form
        more["text"] = {**more["text"], **arguments.get("text", {})}
    return arguments | more


def _items(message: Message) -> Iterator[dict[str, Any]]:
    """A turn as items. A call goes back without the `id` that OpenAI gave it, which would ask for the thoughts before
    it: they are stored nowhere. Its answer is found by `call_id`."""
    called = message.called
    if called is None:
        yield {"role": message.role, "content": message.text}
    elif message.role == "tool":
        yield {"type": "function_call_output", "call_id": called.id, "output": message.text}
    else:
        if message.text.strip():
            yield {"role": "assistant", "content": message.text}
        yield {"type": "function_call", "call_id": called.id, "name": called.sent, "arguments": called.text}


def _whole(answer: Any) -> Object:
    """A response that comes whole, as the event that would end its stream."""
    if not isinstance(answer, Object) or not (answer.error or isinstance(answer.output, list)):
        raise ValueError(f"the server's answer is no response; {QUESTION}{quoted(answer)}")
    return Object(type=f"response.{'failed' if answer.error else answer.status}", response=answer)


def _event(data: bytes) -> Object:
    """An event of a stream, or the whole response of a server that does not stream. ValueError where it is neither."""
    found = parsed(data)
    if not isinstance(found, Object):
        raise ValueError(f"a piece of the stream is no JSON object.{quoted(found)}")
    return found if isinstance(found.type, str) else _whole(found)


def _gather(events: Iterable[Object], deadline: Deadline) -> Reply:
    reading = _Reading(Collector(deadline))
    for event in reading.collected.within(events):
        reading.hear(event)
        if reading.collected.finish_reason:  # no `[DONE]` comes behind it
            break
    return reading.collected.reply()


class _Reading:
    """Reads the items of one reply's output, each told in pieces or whole at its end or at that of the response.

    Of its messages all are read, of its calls the first one.
    """

    def __init__(self, collected: Collector) -> None:
        self.collected = collected
        self._heard: set[Any] = set()
        """Places in the output of what was read."""
        self._message: Any = None
        """Place of the last message, and of the call that is read."""
        self._call: Any = None
        self._is_refusal = False
        self._began = False
        """True once the model has thought or written: it may be billed."""

    def hear(self, event: Object) -> None:
        """Read one event.

        Raises:
            ServerFault: the server refuses, in an answer that began with status 200. EOFError: it broke off.
        """
        kind, place = event.type, event.output_index
        if kind == "response.output_text.delta":
            self._add_text(place, event.delta)
        elif kind == "response.function_call_arguments.delta":
            self._add_call(place, "", event.delta)
        elif kind == "response.refusal.delta":
            self._is_refusal = True
        elif kind == "response.output_item.added" and event.item.type == "function_call":
            self._name_call(place, event.item.name)
        elif kind == "response.output_item.done":
            self._take(place, event.item)
        elif kind in _ENDS:
            self._end(kind, event.response)
        elif kind in ("error", "response.error"):
            self._break(event.error or event)
        self._began = self._began or (kind.startswith("response.") and kind not in _BEFORE)

    def _add_text(self, place: Any, piece: Any) -> None:
        if self._message not in (None, place):
            self.collected.add_text("\n\n")  # what is announced before a program is a message of its own
        self._message = place
        self._heard.add(place)
        self.collected.add_text(piece)

    def _name_call(self, place: Any, name: Any) -> None:
        self._call = place if self._call is None else self._call
        if self._call == place:
            self.collected.add_call(name or "", "")

    def _add_call(self, place: Any, name: Any, piece: Any) -> None:
        self._name_call(place, name)
        self._heard.add(place)
        if self._call == place:
            self.collected.add_call("", piece)

    def _take(self, place: Any, item: Any) -> None:
        """Read a whole item, unless its pieces were."""
        if place in self._heard:
            return
        if item.type == "function_call":
            self._add_call(place, item.name, written(item.arguments))
        elif item.type == "message":
            for part in item.content or []:
                if part.type == "output_text":
                    self._add_text(place, part.text)
                self._is_refusal = self._is_refusal or part.type == "refusal"

    def _end(self, kind: str, response: Any) -> None:
        states = (kind.removeprefix("response."), response.status)
        self.collected.usage = usage_of(response.usage, "input", "output")
        if response.error or "failed" in states:
            return self._break(response.error or response, bool(response.output))
        if not self._heard:
            for place, item in enumerate(response.output or []):
                self._take(place, item)
        if "incomplete" in states:
            reason = getattr(response.incomplete_details, "reason", None)
            self.collected.finish_reason = "filter" if reason == "content_filter" else "length"
        else:
            said = "tool" if self.collected.tool else "stop"
            self.collected.finish_reason = "filter" if self._is_refusal else said
        return None

    def _break(self, error: Any, began: bool = False) -> None:
        """The end by an error. What a policy stops is withheld; what else broke off may be asked, and billed, again."""
        word = str(getattr(error, "code", None))
        if not (began or self._began):
            raise ServerFault({"error": error}, _STATUS.get(word))
        if word not in _POLICIES:
            raise EOFError(f"{BROKE_OFF}: {message_of(error)}")
        self.collected.finish_reason = "filter"


def _check(settings: ModelSettings) -> None:
    if settings.extra.get("background"):
        prefix = f"llm.{settings.role}"
        raise ConfigError(f"{prefix}.extra.background: replies are waited for, not fetched later; set {prefix}.timeout")


OPENAI_RESPONSES = ProviderSpec(
    connect,
    query,
    package="httpx2",
    key_variables=("OPENAI_API_KEY",),
    url_variable="OPENAI_BASE_URL",
    publishers=("openai",),
    check=_check,
)
