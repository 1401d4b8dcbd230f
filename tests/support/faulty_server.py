"""A server of models on loopback: `llmock` of PyPI behind a layer that counts what it bills and breaks replies."""

from __future__ import annotations

import json
import logging
import random
import re
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from llmock.scenarios import Match, StreamFault
from llmock.testing import LLMockServer

MODELS = {
    "openai": "gpt-4o-mini", "openai-responses": "gpt-4o-mini", "anthropic": "claude-sonnet-5",
    "gemini": "gemini-3.5-flash",
}  # fmt: skip
REVIEW_TOOL = {
    "type": "function",
    "function": {
        "name": "submit_review",
        "description": "Submit the review.",
        "parameters": {
            "type": "object",
            "properties": {
                "is_bug": {"type": "boolean"},
                "has_csv_submission": {"type": "boolean"},
                "summary": {"type": "string"},
                "metric": {"type": "number"},
                "lower_is_better": {"type": "boolean"},
            },
            "required": ["is_bug", "has_csv_submission", "summary"],
        },
    },
}
REVIEW_CHOICE = {"type": "function", "function": {"name": "submit_review"}}
_LAST_CHUNK = re.compile(rb'data: \[DONE\]|event: response\.completed|event: message_stop|"finishReason"')
"""What the last chunk of a stream holds: OpenAI, its responses, Anthropic, Gemini."""
REVIEW = {"is_bug": False, "has_csv_submission": True, "summary": "fine"}


@dataclass
class Bill:
    """What the server counted for one reply that left it whole."""

    path: str
    prompt: int
    completion: int
    asked: str
    """The request's body, to see that nothing is asked twice."""


@dataclass
class _Layer:
    """ASGI: between uvicorn and llmock."""

    app: Any
    bills: list[Bill] = field(default_factory=list)
    requests: int = 0
    headers_seen: list[dict[str, str]] = field(default_factory=list)
    bare_429: bool = False
    breaks: deque[str] = field(default_factory=deque)
    before: Callable[[int, dict[str, Any]], None] = lambda index, scope: None
    lock: Any = field(default_factory=threading.Lock)

    @property
    def state(self) -> Any:
        return self.app.state

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        with self.lock:
            self.requests += 1
            self.headers_seen.append({k.decode().lower(): v.decode() for k, v in scope["headers"]})
            kind = self.breaks.popleft() if self.breaks else ""
            self.before(self.requests, scope)
        asked = bytearray()

        async def receive_and_keep() -> Any:
            message = await receive()
            asked.extend(message.get("body", b""))
            return message

        reply = _Outgoing(self, scope["path"], kind, send, asked)
        await self.app(scope, receive_and_keep, reply.send)


class _Outgoing:
    def __init__(self, layer: _Layer, path: str, kind: str, send: Any, asked: bytearray) -> None:
        self._layer, self._path, self._kind, self._send, self._asked = layer, path, kind, send, asked
        self._status = 0
        self._body = bytearray()
        self._counted = False

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            if self._layer.bare_429:
                kept = [(k, v) for k, v in message["headers"] if not k.lower().startswith(b"retry-after")]
                message = {**message, "headers": kept}
        elif message["type"] == "http.response.body":
            body = message.get("body", b"")
            self._body += body
            if self._kind == "cut" and body:
                # Fewer bytes than announced: uvicorn drops the connection.
                message = {**message, "body": body[: len(body) // 2], "more_body": False}
            elif self._kind == "garbage" and body:
                message = {**message, "body": b"{" * len(body)}
            elif self._kind == "unfinished" and body:
                message = {**message, "body": _without_finish(body)}
            elif self._status == 200 and (not message.get("more_body") or _LAST_CHUNK.search(body)):
                self._count()
        await self._send(message)

    def _count(self) -> None:
        """Bill the reply once, before its last chunk leaves: who reads that one may hang up before the stream ends."""
        if self._counted:
            return
        self._counted = True
        try:
            usage = _usage(bytes(self._body))
        except json.JSONDecodeError:  # a chunk was broken on purpose: not a whole reply
            return
        if usage is not None:
            with self._layer.lock:
                self._layer.bills.append(Bill(self._path, *usage, bytes(self._asked).decode()))


class FaultyServer(LLMockServer):
    """llmock on a free port of loopback; `layer` counts and breaks."""

    def __init__(self, port: int = 0) -> None:
        super().__init__(port=port)
        self.layer = _Layer(self.app)
        self.app = self.layer

    def start(self) -> LLMockServer:
        started = super().start()
        # A reply that is cut on purpose is an error for uvicorn, which configured its logger just now.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        return started

    def base_url(self, provider: str = "openai") -> str:
        """OpenAI's address speaks both of its languages."""
        return str(super().base_url(provider.removesuffix("-responses")))

    def reset(self) -> None:
        """No faults queued, nothing counted."""
        self.state.reset()
        self.layer.bills.clear()
        self.layer.headers_seen.clear()
        self.layer.breaks.clear()
        self.layer.requests = 0
        self.layer.bare_429 = False
        self.layer.before = lambda index, scope: None

    def chaos(self, rate: float, seed: int) -> None:
        """From now on a share `rate` of the requests fails: by status, dropped, truncated, malformed or not JSON."""
        rng = random.Random(seed)
        kinds = ["429", "500", "529", "disconnect", "truncate", "malformed"]

        def before(index: int, scope: dict[str, Any]) -> None:
            if rng.random() >= rate:
                return
            kind = rng.choice(kinds)
            if kind.isdigit():
                scope["headers"] = [*scope["headers"], (b"x-llmock-force-status", kind.encode())]
            else:
                self.state.scenarios.add(StreamFault(kind, after_chunks=1, match=Match(stream=True)))

        self.layer.before = before

    @property
    def billed(self) -> tuple[int, int]:
        """(prompt tokens, completion tokens) of all replies that left whole."""
        return sum(b.prompt for b in self.layer.bills), sum(b.completion for b in self.layer.bills)


def _without_finish(body: bytes) -> bytes:
    answer = json.loads(body)
    for choice in answer.get("choices", []) + answer.get("candidates", []):
        choice.pop("finish_reason", None)
        choice.pop("finishReason", None)
    answer.pop("stop_reason", None)
    answer.pop("status", None)
    text = json.dumps(answer)
    return text.ljust(len(body)).encode()[: len(body)]


def _usage(body: bytes) -> tuple[int, int] | None:
    """Tokens in an answer of any of the four APIs, plain or streamed; the last word of a stream counts."""
    events = [json.loads(body)] if body[:1] == b"{" else list(_events(body))
    prompt = completion = None
    for event in events:
        inner = [(event.get(name) or {}).get("usage") for name in ("message", "response")]
        for usage in (event.get("usage"), event.get("usageMetadata"), *inner):
            if usage:
                prompt = usage.get("prompt_tokens", usage.get("input_tokens", usage.get("promptTokenCount", prompt)))
                completion = usage.get(
                    "completion_tokens", usage.get("output_tokens", usage.get("candidatesTokenCount", completion))
                )
    return None if prompt is None or completion is None else (prompt, completion)


def _events(body: bytes) -> Any:
    for line in body.decode().splitlines():
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))
