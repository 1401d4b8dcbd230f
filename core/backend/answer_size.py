"""How much of an answer is read: a server's word is no promise, and a small packed answer unpacks to any size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from core.backend.stream import LARGEST_REPLY

LARGEST_ANSWER = 16 * LARGEST_REPLY
"""Bytes, unpacked, of an answer that is no stream."""
LARGEST_STREAM = 16 * LARGEST_ANSWER
"""Of one that is: each piece of a reply comes with many words about it."""


def too_large(most: int) -> ValueError:
    """For an answer that goes on behind so many bytes."""
    return ValueError(f"an answer of more than {most >> 20} MB")


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
