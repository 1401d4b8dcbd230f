"""One exchange with a model: a request and a reply that look the same for every provider."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import inf
from typing import Any, Literal, TypeGuard
from urllib.parse import urlsplit

from core.backend.network import host_of, is_loopback, shown_url
from core.backend.settings import ModelSettings
from utils.counts import counted
from utils.time_share import without_times

_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class Called:
    """A function that the model called before it wrote."""

    name: str
    arguments: Mapping[str, Any]
    number: int
    """From 0 in its conversation."""

    @property
    def id(self) -> str:
        """Its name, where a provider wants one."""
        return f"call_{self.number}"

    @property
    def sent(self) -> str:
        """Its name as providers take it back. Models make up others, `multi_tool_use.parallel` for one, and a request
        that holds such a name is refused."""
        return _NO_NAME.sub("_", self.name)[:64] or "_"

    @property
    def text(self) -> str:
        """Its arguments as JSON."""
        return json.dumps(self.arguments)


@dataclass(frozen=True, slots=True)
class Message:
    """A turn of the conversation. With `called`, an assistant's turn is that call, a tool's is the answer to it."""

    role: Literal["user", "assistant", "tool"]
    text: str
    called: Called | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call: name, what it is for, JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a model. `mode` is the form in which the arguments of a tool are asked for.

    In the mode `offer` it may call one of the tools or reply in words; in `offered` it may call none any more.
    """

    system: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    forced: str = ""
    """Name of the tool that must be called; '' for any of `tools`."""
    mode: Literal["text", "tool", "schema", "fence", "offer", "offered"] = "text"
    context: Mapping[str, Any] | None = field(default=None, repr=False)
    """Plain JSON for `rules`; real providers do not see it."""

    @property
    def tool(self) -> Tool:
        """The wanted tool: the forced one, or the first."""
        return next((tool for tool in self.tools if tool.name == self.forced), self.tools[0])

    @property
    def user(self) -> str:
        """The conversation as one text, for the record; a plain prompt stays as it is.

        Of calls before the last one their own records tell.
        """
        if len(self.messages) == 1:
            return self.messages[0].text
        if (last := self.messages[-1]).called is not None:
            before = counted(len(self.messages) - 1, "message")
            return f"({before} as before)\n\n[answer of {last.called.name}]\n{last.text}"
        return "\n\n".join(f"[{message.role}]\n{message.text}" for message in self.messages)


MOST_TOKENS = 10**9
"""Of one call."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the server counted them."""

    prompt: int
    completion: int
    cached: int = 0
    """Part of `prompt` that the provider read from its own cache, at a lower price."""
    written: int = 0
    """Part of `prompt` that the provider wrote into its own cache, at a higher price."""
    usd: float | None = None
    """Dollars, where the server told a cost; whether that is what it bills, `prices` knows."""

    @classmethod
    def counted(cls, prompt: object, completion: object, cached: object = 0, written: object = 0) -> Usage | None:
        """What a server tells; None where that can be no count: a price below nothing would be added to the budget, and
        a prompt of nothing is what some tell who do not count."""
        counts = [prompt, completion, cached or 0, written or 0]
        numbers = [count for count in counts if _is_count(count)]
        found = cls(*numbers) if len(numbers) == len(counts) else None
        return found if found and (found.prompt or found.cached or found.written) else None

    def at(self, *costs: object) -> Usage:
        """With the sum of the dollars that a server tells, where they can be no other thing."""
        told = [float(cost) for cost in costs if _is_cost(cost)]
        return replace(self, usd=sum(told)) if len(told) == len(costs) else self

    def within(self, total: object) -> Usage:
        """With all tokens of which the server tells the sum: some leave those of the thoughts out of the reply's."""
        return replace(self, completion=max(self.completion, total - self.prompt)) if _is_count(total) else self


def _is_cost(value: object) -> TypeGuard[int | float]:
    return type(value) in (int, float) and 0 <= value < inf  # type: ignore[operator]


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= MOST_TOKENS


@dataclass(frozen=True, slots=True)
class Exchanged:
    """One request that an agent made of a model in its session, and what came back."""

    model: str
    path: str
    body: Mapping[str, Any]
    reply: str
    """As it came, a stream of events too."""
    status: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answered. `usage` is None where the server did not count."""

    text: str = ""
    tool: str = ""
    """Name of the tool that was called; '' for none."""
    arguments: str = ""
    """The call's arguments as the model wrote them, JSON or not."""
    finish_reason: str = ""
    """stop, tool, length, filter or oversize."""
    usage: Usage | None = None
    usd: float | None = None
    """Dollars, where somebody counted them; None leaves it to the price list."""
    exchanges: tuple[Exchanged, ...] = ()
    """Of an agent's session, in the order of their answers."""
    words: str = ""
    """All that an agent said at its end, where `text` holds less of it."""

    def __post_init__(self) -> None:
        """ValueError where a server's answer has something else in the place of a text."""
        for name in ("text", "tool", "arguments", "finish_reason"):
            if not isinstance(value := getattr(self, name), str):
                raise ValueError(f"the server's answer is no reply: its {name} is {value!r:.60}")


def request_hash(request: Request, settings: ModelSettings) -> str:
    """SHA-256 of the canonical request; holds no key, no secret of a URL, no port of a server on this machine.

    Nor how fast a parent was: a slower machine asks the same question.
    """
    plain = _asked(settings) | {
        "system": without_times(request.system),
        "messages": [_plain(message) for message in request.messages],
    }
    if settings.provider == "rules":
        plain["context"] = request.context
    else:
        plain |= {
            "mode": request.mode,
            "forced": request.forced,
            "tools": [[tool.name, tool.description, tool.parameters] for tool in request.tools],
        }
    return _hash(plain)


def settings_hash(settings: ModelSettings) -> str:
    """SHA-256 of what every request to these models has from its settings: where it differs, no request is the same."""
    return _hash([_asked(one) for one in settings.alternatives])


def _asked(settings: ModelSettings) -> dict[str, Any]:
    plain: dict[str, Any] = {"provider": settings.provider, "model": settings.model}
    if settings.provider != "rules":
        plain |= {
            "at": _place(settings.base_url),
            "options": [settings.temperature, settings.max_tokens, settings.reasoning, settings.command],
            "extra": settings.extra,
        }
    return plain


def _hash(plain: Any) -> str:
    text = json.dumps(plain, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()  # a context may hold half characters


def _plain(message: Message) -> list[Any]:
    called = message.called
    told = [message.role, without_times(message.text)]
    return told if called is None else [*told, called.name, called.arguments]


def _place(base_url: str) -> str:
    if is_loopback(host_of(base_url)):
        return "loopback" + urlsplit(base_url).path.rstrip("/")
    return shown_url(base_url).rstrip("/")
