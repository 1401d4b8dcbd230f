"""How much of an answer is read, and told where it is none: a server's word is no promise, and a small packed answer
unpacks to any size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from core.backend.stream import LARGEST_REPLY

LARGEST_ANSWER = 16 * LARGEST_REPLY
"""Bytes, unpacked, of an answer that is no stream."""
LARGEST_STREAM = 16 * LARGEST_ANSWER
"""Of one that is: each piece of a reply comes with many words about it."""
_QUOTED = 2000
"""Characters: what of it is told is cut once more, behind where a key was masked."""


def too_large(most: int) -> ValueError:
    """For an answer that goes on behind so many bytes."""
    return ValueError(f"an answer of more than {most >> 20} MB")


def quoted(answer: Any) -> str:
    """How an answer begins that is not what was asked for: bytes, a text, or plain JSON."""
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    told = text if isinstance(text, str) else json.dumps(text, default=str)
    return f" It is {' '.join(told[:_QUOTED].split()) or 'empty'}"


def bounded_answers() -> dict[str, list[Callable[[Any], None]]]:
    """Event hooks for the HTTP client of an SDK, which reads answers whole before it looks at them."""
    return {"response": [_bound]}


def _bound(response: Any) -> None:
    """Let whoever reads it hear of no more than is read of any."""
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    most, unpacked = LARGEST_STREAM if is_stream else LARGEST_ANSWER, response.iter_bytes

    def iter_bytes(chunk_size: int | None = None) -> Iterator[bytes]:
        size = 0
        for piece in unpacked(chunk_size):
            size += len(piece)
            if size > most:
                raise too_large(most)
            yield piece

    response.iter_bytes = iter_bytes
