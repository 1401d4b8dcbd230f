"""A coding agent's session as a conversation: what it was told, what it said, what it called, in whichever language.

The store holds each exchange as it went over the wire; streams are joined here. All of it is untrusted text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from core.backend.agent.dialects import objects
from core.backend.records import CONVERSATIONS, WORDS
from core.contracts import SESSION, CallRecord
from utils.counts import counted

LONGEST = 20_000
"""Characters of one text."""
MOST_TURNS = 400


class Turn(BaseModel):
    """One request of the agent and its model's answer. Untrusted texts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    told: list[str] = Field(default_factory=list)
    """What is new in the request: the task, answers of tools."""
    said: str = ""
    called: list[str] = Field(default_factory=list)
    """`tool {arguments}` of each call."""
    seconds: float = 0.0
    status: str = ""
    """Of the answer: 200, or what was refused; of the agent's last words, that they are."""


def transcript(calls: Sequence[CallRecord]) -> list[Turn]:
    """The turns of a node's session; [] where no agent wrote it."""
    return [_turn(call) for call in calls if call.role == SESSION][:MOST_TURNS]


def _turn(call: CallRecord) -> Turn:
    if call.finish_reason == WORDS:
        return Turn(said=_cut(call.reply), status="its last words")
    texts: list[str] = []
    calls: list[str] = []
    try:
        for kind, text in _answered(objects(call.reply.encode())):
            (texts if kind == "text" else calls).append(text)
        told = [text for text in _told(call.user) if text.strip()]
    except (AttributeError, TypeError, RecursionError):  # in none of the languages: shown as it came
        told, texts, calls = [call.user], [call.reply], []
    return Turn(
        told=[_cut(text) for text in told], said=_cut("".join(texts)), called=[_cut(one) for one in calls],
        seconds=call.seconds, status=call.finish_reason,
    )  # fmt: skip


def _told(user: str) -> Iterator[str]:
    """Texts of the request that nobody's model wrote."""
    try:
        body = json.loads(user)
    except ValueError:
        return
    for name in CONVERSATIONS & body.keys() if isinstance(body, dict) else ():
        given = body[name]
        if isinstance(given, str):
            yield given
        for message in given if isinstance(given, list) else ():
            if isinstance(message, Mapping) and message.get("role") not in ("assistant", "model"):
                yield from _texts(message)


def _texts(part: Any) -> Iterator[str]:
    """The texts in a message, whatever they are wrapped in; of a call that is told again, nothing."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, list):
        for one in part:
            yield from _texts(one)
    elif isinstance(part, Mapping) and part.get("type") not in ("function_call", "tool_use", "reasoning"):
        for name in ("text", "content", "output", "parts"):
            yield from _texts(part.get(name))
        answer = part.get("functionResponse")
        if isinstance(answer, Mapping):
            yield json.dumps(answer.get("response"))


def _answered(parts: Iterator[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """("text" | "call", text) of an answer, whole or in pieces. A call's pieces are joined."""
    pending: dict[Any, list[str]] = {}
    for part in parts:
        yield from _messages(part, pending)
        yield from _chat(part, pending)
        yield from _responses(part)
        yield from _generated(part)
    for name, *pieces in pending.values():
        yield "call", f"{name} {''.join(pieces)}"


def _messages(part: Mapping[str, Any], pending: dict[Any, list[str]]) -> Iterator[tuple[str, str]]:
    """Anthropic's."""
    if part.get("type") == "message" and "role" in part:
        for block in part.get("content") or ():
            yield from _block(block)
    block, delta = part.get("content_block"), part.get("delta")
    if isinstance(block, Mapping) and block.get("type") == "tool_use":
        pending[part.get("index")] = [str(block.get("name"))]
    if isinstance(delta, Mapping) and delta.get("type") == "text_delta":
        yield "text", str(delta.get("text", ""))
    if isinstance(delta, Mapping) and delta.get("type") == "input_json_delta" and part.get("index") in pending:
        pending[part.get("index")].append(str(delta.get("partial_json", "")))


def _block(block: Any) -> Iterator[tuple[str, str]]:
    if isinstance(block, Mapping) and block.get("type") in ("text", "output_text"):
        yield "text", str(block.get("text", ""))
    elif isinstance(block, Mapping) and block.get("type") == "tool_use":
        yield "call", f"{block.get('name')} {json.dumps(block.get('input'))}"


def _chat(part: Mapping[str, Any], pending: dict[Any, list[str]]) -> Iterator[tuple[str, str]]:
    """OpenAI's chat completions, and those who speak them."""
    choices = part.get("choices")
    for choice in choices[:1] if isinstance(choices, list) else ():
        message = choice.get("message") or choice.get("delta") or {}
        if message.get("content"):
            yield "text", str(message["content"])
        for number, call in enumerate(message.get("tool_calls") or ()):
            function = call.get("function") or {}
            known = pending.setdefault(("chat", call.get("index", number)), [str(function.get("name") or "")])
            known.append(str(function.get("arguments") or ""))


def _responses(part: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """OpenAI's responses: items are told whole when they are done."""
    items = [part.get("item")] if part.get("type") == "response.output_item.done" else part.get("output")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, Mapping) and item.get("type") == "function_call":
            yield "call", f"{item.get('name')} {item.get('arguments')}"
        elif isinstance(item, Mapping) and item.get("type") == "message":
            for block in item.get("content") or ():
                yield from _block(block)


def _generated(part: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Gemini's."""
    candidates = part.get("candidates")
    for candidate in candidates[:1] if isinstance(candidates, list) else ():
        for piece in (candidate.get("content") or {}).get("parts") or ():
            if call := piece.get("functionCall"):
                yield "call", f"{call.get('name')} {json.dumps(call.get('args'))}"
            elif piece.get("text") and not piece.get("thought"):
                yield "text", str(piece["text"])


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… {counted(len(text) - LONGEST, 'character')} more"
