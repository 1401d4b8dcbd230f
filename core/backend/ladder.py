"""The ladder of function calling: how a request becomes text or arguments, and which replies cannot be used.

forced tool → JSON schema → JSON in a fence → up to 3 repair requests. Each rung is an exchange of its own, recorded
like any other, so that a resumed run climbs the same rungs from the record. Nothing is remembered between calls: what
one learned about a server would make the next one's request depend on the order of threads (set `llm.*.tools`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, get_args

from core.backend.exchange import Message, Reply, Request
from core.backend.messages import fence_instructions, repair_instructions
from core.backend.schema import SchemaError, find_object, read_arguments
from core.backend.settings import ModelSettings
from core.backend.stream import LARGEST_REPLY
from utils.clean_text import one_line, whole
from utils.errors import CutReplyError, RefusedError, ReplyError
from utils.fences import strip_thinking

Rung = Literal["tool", "schema", "fence"]
RUNGS: tuple[Rung, ...] = get_args(Rung)
REPAIRS = 3
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
Exchange = Callable[[Request, int], Reply]
"""(request, turn) → reply; turns of one query count from 0 and are part of the exchange's identity."""


def ask(request: Request, settings: ModelSettings, exchange: Exchange) -> str:
    """The reply's text, or with tools the arguments as JSON text that follows the tool's schema.

    Raises:
        ReplyError: the reply is empty, cut at `max_tokens`, filtered or oversize, or no rung gave usable arguments.
    """
    if not request.tools:
        return usable_text(exchange(request, 0), settings)
    return _climb(request, settings, exchange)


def usable_text(reply: Reply, settings: ModelSettings) -> str:
    """What the reply says, without its thoughts.

    Raises:
        CutReplyError: it was cut; it holds what came. ReplyError: it is withheld, oversize or empty.
    """
    text = without_thoughts(reply.text)
    if reason := _spoiled(reply, settings):
        message = f"{settings.writer}: {reason}"
        raise CutReplyError(message, text) if reply.finish_reason == "length" else ReplyError(message)
    if not text.strip():
        called = f"calls the function '{one_line(reply.tool, 64)}', which there is not, and says nothing else"
        raise ReplyError(f"{settings.writer}: the reply {called if reply.tool else 'is empty'}")
    return text


def without_thoughts(text: str) -> str:
    """The reply proper: open models put their reasoning, with code of its own, in a leading <think> block. Of one that
    their chat template has opened the reply holds but the end."""
    rest = _THOUGHTS.sub("", text, count=1)
    return strip_thinking(rest) if "</think" in rest else rest


def _climb(request: Request, settings: ModelSettings, exchange: Exchange) -> str:
    reason, said = "no reply", ""
    for turn, rung in enumerate(RUNGS[RUNGS.index(settings.tools) :]):
        try:
            reply = exchange(on_rung(request, rung), turn)
        except RefusedError as refusal:
            if rung == RUNGS[-1] or not refusal.is_about_form:
                raise
            continue
        arguments, reason = _arguments(reply, request, settings)
        if arguments is not None:
            return arguments
        said = reply.arguments or reply.text
    return _repair(request, settings, exchange, said, reason)


def _repair(request: Request, settings: ModelSettings, exchange: Exchange, said: str, reason: str) -> str:
    """Send the reply back with the reason. Only the last reply stays in the conversation, so that it does not grow."""
    asked = on_rung(request, "fence")
    for turn in range(len(RUNGS), len(RUNGS) + REPAIRS):
        shown = said[:4000]
        back = (
            Message("assistant", shown if shown.strip() else "(nothing)"),  # a blank turn is refused
            Message("user", repair_instructions(request.tool, reason)),
        )
        reply = exchange(replace(asked, messages=(*asked.messages, *back)), turn)
        arguments, reason = _arguments(reply, request, settings)
        if arguments is not None:
            return arguments
        said = reply.arguments or reply.text
    raise ReplyError(
        f"{settings.writer}: no usable arguments for '{request.tool.name}' after {REPAIRS} repairs: {reason}"
    )


def on_rung(request: Request, rung: Rung) -> Request:
    """The request in the form of a rung. Below `tool` the prompt says what is wanted: servers ignore schemas too."""
    if rung == "tool":
        return request
    last = request.messages[-1]
    asked = Message(last.role, f"{last.text}\n\n{fence_instructions(request.tool)}")
    return replace(request, mode=rung, messages=(*request.messages[:-1], asked))


def _arguments(reply: Reply, request: Request, settings: ModelSettings) -> tuple[str | None, str]:
    """(arguments, '') or (None, reason). Text that holds the right object is as good as a call."""
    if reason := _spoiled(reply, settings):
        return None, reason
    names = [tool.name for tool in request.tools if request.forced in ("", tool.name)]
    if reply.tool and reply.tool not in names:
        return None, f"it calls '{reply.tool[:80]}', but the tool is '{request.tool.name}'"
    text = reply.arguments if reply.tool else find_object(without_thoughts(reply.text))
    if not text.strip():
        return None, f"it holds no call of '{request.tool.name}' and no JSON object"
    called = next((tool for tool in request.tools if tool.name == reply.tool), request.tool)
    try:
        return whole(json.dumps(read_arguments(text, called.parameters), ensure_ascii=False)), ""
    except SchemaError as error:
        return None, str(error)


def _spoiled(reply: Reply, settings: ModelSettings) -> str:
    if reply.finish_reason == "length":
        key = f"llm.{settings.role}.max_tokens={settings.max_tokens}"
        if not (reply.arguments or without_thoughts(reply.text).strip()):
            return f"the model thought up to {key} and wrote nothing: think less (or the user raises it)"
        return f"the reply was cut at {key}: write less (or the user raises it)"
    if reply.finish_reason == "filter":
        return "the provider withheld the reply (content filter or refusal)"
    if reply.finish_reason == "oversize":
        return f"the reply is longer than {LARGEST_REPLY} characters"
    return ""
