"""The four languages that coding agents speak to models: where the key goes, what a call may cost, what it did cost."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.backend.exchange import Usage

_CAMEL = re.compile(r"_([a-z])")
_GEMINI = re.compile(r"/v1(?:beta|alpha)?/models/([\w.-]+):(generateContent|streamGenerateContent|countTokens)")
"""What Google's models may be asked for: what is billed by the tokens that the answer tells. A video is not."""


_OWN_TOOL = re.compile(r"function|custom|namespace|local_shell|apply_patch|(?:bash|text_editor|computer|memory)_\d+")
"""Types of tools that an agent runs itself; those of Anthropic end with a date."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One provider's API as its agents use it."""

    provider: str
    """Of PROVIDERS: names the price list and where the key usually is."""
    address: str
    """The provider's own."""
    limit: str
    """Key of a request that bounds the reply's tokens; dots lead inwards."""
    header: str = "authorization"
    """Where the key goes."""
    scheme: str = "Bearer "

    def headers(self, key: str) -> dict[str, str]:
        """The key as the provider wants it."""
        return {self.header: self.scheme + key}


MESSAGES = Dialect("anthropic", "https://api.anthropic.com", "max_tokens", "x-api-key", "")
CHAT = Dialect("openai", "https://api.openai.com", "max_completion_tokens")
RESPONSES = Dialect("openai", "https://api.openai.com", "max_output_tokens")
GENERATE = Dialect(
    "gemini", "https://generativelanguage.googleapis.com", "generationConfig.maxOutputTokens", "x-goog-api-key", ""
)
_BY_PATH = {"/v1/messages": MESSAGES, "/v1/chat/completions": CHAT, "/v1/responses": RESPONSES}
_FREE = {"/v1/messages/count_tokens": MESSAGES, "/v1/models": CHAT}
"""What costs nothing is passed on too: some agents will not begin without."""
VARIABLES = {
    "ANTHROPIC_BASE_URL": "", "OPENAI_BASE_URL": "/v1", "GOOGLE_GEMINI_BASE_URL": "",
    "ANTHROPIC_API_KEY": None, "OPENAI_API_KEY": None, "GEMINI_API_KEY": None,
}  # fmt: skip
"""Environment variables through which agents find a model: path below the gateway's address, None for its token."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of an agent, understood."""

    dialect: Dialect
    model: str
    free: bool
    body: dict[str, Any]


def understood(path: str, raw: bytes) -> Asked | None:
    """The request at `path`; None for what no model answers."""
    try:
        body = json.loads(raw or b"{}")
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict):
        return None
    gemini = _GEMINI.fullmatch(path)
    if gemini:
        return Asked(GENERATE, gemini[1], gemini[2] == "countTokens", body)
    dialect = _BY_PATH.get(path) or _FREE.get(path)
    return Asked(dialect, str(body.get("model", "")), path in _FREE, body) if dialect else None


def bounded(asked: Asked, most: int) -> dict[str, Any]:
    """The request with a reply of at most `most` tokens, and one that tells what it took, and leads nowhere else."""
    body = _without_reach(json.loads(json.dumps(asked.body)))
    if asked.dialect is GENERATE:  # Google takes either spelling of each name, and a limit is kept in one
        body["generationConfig"] = _camel(body.pop("generation_config", None)) | _camel(body.get("generationConfig"))
    *outer, name = asked.dialect.limit.split(".")
    place = body
    for key in outer:
        place[key] = place[key] if isinstance(place.get(key), dict) else {}
        place = place[key]
    if name == "max_completion_tokens" and "max_tokens" in place:
        name = "max_tokens"
    place[name] = min(reply_limit(asked) or most, most)
    if name == "max_tokens":
        place.pop("max_completion_tokens", None)  # one of the two is the limit
    for several in ("n", "candidateCount"):  # each of them would be billed, and only the first is read
        place.pop(several, None)
    if asked.dialect is CHAT and body.get("stream"):
        told = body.get("stream_options")
        body["stream_options"] = {**(told if isinstance(told, dict) else {}), "include_usage": True}
    return body


def _camel(told: Any) -> dict[str, Any]:
    spelt = told if isinstance(told, Mapping) else {}
    return {_CAMEL.sub(lambda found: found[1].upper(), key): value for key, value in spelt.items()}


def _without_reach(body: dict[str, Any]) -> dict[str, Any]:
    """The request without what the provider would do itself: search the web, read an address, ask a tool server, run
    code elsewhere. An agent that is kept to its model would reach all the world by it, and no token tells its price.
    Nor may it ask to be served sooner than others, elsewhere, or from a cache that keeps for an hour, at another price
    than the one by which it is counted.
    """
    for name in ("mcp_servers", "web_search_options", "service_tier", "serviceTier", "speed", "inference_geo"):
        body.pop(name, None)
    for place in cached_parts(body):
        if isinstance(control := place["cache_control"], dict):
            control.pop("ttl", None)
    if isinstance(told := body.get("tools"), list):
        body["tools"] = [tool for one in told if (tool := _own_tool(one))]
        if told and not body["tools"]:
            for name in ("tools", "tool_choice", "toolConfig", "tool_config"):
                body.pop(name, None)
    return body


def cached_parts(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The parts of a request to Anthropic that may be marked to be kept: it and its tools, texts and turns."""
    waiting: list[Any] = [body, *(body.get(name) for name in ("tools", "system", "messages"))]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            if "cache_control" in part:
                yield part
            waiting.append(part.get("content") if part is not body else None)


def _own_tool(tool: Any) -> Any:
    """A tool that the agent runs itself, as it is; None for one of the provider's."""
    if not isinstance(tool, Mapping):
        return tool
    kind = tool.get("type")
    if kind is None and "name" not in tool:  # Gemini's: each key is a tool, or a list of declarations
        return {key: tool[key] for key in tool if key in ("functionDeclarations", "function_declarations")} or None
    return tool if kind is None or _OWN_TOOL.fullmatch(str(kind)) else None


def reply_limit(asked: Asked) -> int | None:
    """Tokens that the agent itself allows the reply; None where it says nothing, or what is no number of tokens."""
    place: Any = asked.body
    for key in asked.dialect.limit.split("."):
        place = place.get(key) if isinstance(place, Mapping) else None
    found = place or asked.body.get("max_tokens")
    return found if type(found) is int and found > 0 else None


def usage_of(raw: bytes) -> Usage | None:
    """What a reply took, whole or as a stream of events; None where it does not say."""
    found: dict[str, int] = {}
    for part in objects(raw):
        for place in (part, part.get("message"), part.get("response")):
            if isinstance(place, Mapping):
                for name in ("usage", "usageMetadata"):
                    counts = place.get(name)
                    if isinstance(counts, Mapping):  # they only grow: a last event may leave the prompt at 0
                        found |= {key: max(found.get(key, count), count) for key, count in _counts(counts).items()}
    if not found:
        return None
    read = found.get("cache_read_input_tokens", 0)  # Anthropic tells these two beside the prompt, the others within it
    written = found.get("cache_creation_input_tokens", 0)
    within = found.get("cached_tokens", found.get("cachedContentTokenCount", 0))
    prompt = found.get("prompt_tokens", found.get("promptTokenCount", found.get("input_tokens", 0)))
    reply = found.get("completion_tokens", found.get("candidatesTokenCount", found.get("output_tokens", 0)))
    thought = found.get("thoughtsTokenCount", 0)
    told = Usage.counted(prompt + read + written, reply + thought, read + within, written)
    return told and told.within(found.get("total_tokens"))


def tells_error(raw: bytes) -> bool:
    """True where an answer that began well holds an error: the reply is not whole."""
    for part in objects(raw):
        inner = part.get("response")
        if part.get("error") or (isinstance(inner, Mapping) and inner.get("error")):
            return True
    return False


_ENDS = ("message_stop", "response.completed", "response.incomplete", "response.failed", "response.done")
_REASONS = ("finish_reason", "finishReason", "stop_reason", "blockReason")


def is_cut(raw: bytes) -> bool:
    """True for a stream without the event that ends it: a connection that is just closed tells nothing of it."""
    return raw.lstrip().startswith((b"data:", b"event:", b":")) and not any(map(_ends, objects(raw)))


def _ends(part: Mapping[str, Any]) -> bool:
    told = [one for name in ("choices", "candidates") if isinstance(one := part.get(name), list)]
    replies = [reply for one in told for reply in one if isinstance(reply, Mapping)]
    replies += [one for name in ("delta", "promptFeedback") if isinstance(one := part.get(name), Mapping)]
    return part.get("type") in _ENDS or any(reply.get(word) for reply in replies for word in _REASONS)


def _counts(told: Mapping[str, Any]) -> dict[str, int]:
    """The counts of a usage, those of OpenAI's `prompt_tokens_details` and `input_tokens_details` among them."""
    details = (told.get(f"{name}_tokens_details") for name in ("prompt", "input"))
    parts = [told, *(part for part in details if isinstance(part, Mapping))]
    return {key: value for part in parts for key, value in part.items() if isinstance(value, int)}


def objects(raw: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of a reply as it came: one, a list of them, or those of its `data:` lines."""
    parts = [line[5:] for line in raw.splitlines() if line.startswith(b"data:")] or [raw]
    for part in parts:
        try:
            found = json.loads(part.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        yield from (one for one in (found if isinstance(found, list) else [found]) if isinstance(one, dict))
