"""How many tokens a request can hold at most: what an earlier one of the session held too is known from its answer."""

from __future__ import annotations

import json
from collections import Counter, deque
from hashlib import sha256

from core.backend.agent.dialects import Asked, bounded, cached_parts

_REMEMBERED = 8
"""Requests: an agent talks to several models, and its helpers hold conversations of their own."""
_MARK = {"type": "ephemeral"}
"""Of what Anthropic is to keep: it wanders to the newest turn, and is no part of the text."""
Part = tuple[bytes, int]
"""A part's name, and its bytes."""


class Weighing:
    """Weighs the requests of one session. Not thread-safe.

    A token is a byte at least. An agent's request repeats all of its conversation: parts (a tool, a message, the
    system's text) that stood whole in an earlier request to that model count together as the model counted all of that
    request, and each byte of the other parts as a token. Whole parts alone: the same bytes elsewhere may be a picture
    in one request and a text in the next.
    """

    def __init__(self) -> None:
        self._known: deque[tuple[tuple[str, str], Counter[Part], int]] = deque(maxlen=_REMEMBERED)

    def most(self, asked: Asked, parts: Counter[Part], size: int) -> int:
        """Tokens of a request of `size` bytes at most."""
        known = [
            told + sum(part[1] * count for part, count in (parts - seen).items())
            for model, seen, told in self._known
            if model == _model(asked)
        ]
        return min([size, *known])

    def learn(self, asked: Asked, parts: Counter[Part], told: int) -> None:
        """The model counted so many tokens of a whole request."""
        self._known.append((_model(asked), parts, told))


def parts_of(asked: Asked) -> Counter[Part]:
    """The parts of a request as it goes out, each as often as it is there."""
    body = bounded(asked, 1)
    for place in cached_parts(body):
        if place["cache_control"] == _MARK:
            del place["cache_control"]
    found: Counter[Part] = Counter()
    for name, value in body.items():
        for part in value if isinstance(value, list) else [value]:
            text = json.dumps([name, part], ensure_ascii=False).encode("utf-8", "surrogatepass")
            found[sha256(text).digest(), len(text)] += 1
    return found


def _model(asked: Asked) -> tuple[str, str]:
    return asked.dialect.provider, asked.model
