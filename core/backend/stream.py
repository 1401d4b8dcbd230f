"""Joins the pieces of a streamed reply, refuses one that was cut off, and stops reading one that does not end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from core.backend.deadline import Deadline
from core.backend.exchange import Reply, Usage

T = TypeVar("T")
LARGEST_REPLY = 1_000_000
"""Characters. No program is that long; what is longer is a fault of the server."""
KEPT = 2000
"""Characters that are kept of an oversize reply, to show what it was."""

_CUT = "the stream ended without a finish reason: the reply was cut off"
_NO_STREAM = "the answer held no event of a stream: is this the API's address, and does it stream?"


class Collector:
    """Gathers the pieces of one streamed reply, within the deadline and LARGEST_REPLY."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._text: list[str] = []
        self._arguments: list[str] = []
        self._size = 0
        self.began = False
        """True once a piece has come, with or without text."""
        self.tool = ""
        self.finish_reason = ""
        self.usage: Usage | None = None

    def within(self, chunks: Iterable[T]) -> Iterator[T]:
        """The chunks, until the deadline (TimeoutError) or until the reply is oversize: then the rest is not read."""
        for chunk in chunks:
            self._deadline.check()
            self.began = True
            yield chunk
            if self._is_oversize:
                self.usage = None  # what was told so far is not all of it
                return

    def add_text(self, piece: str) -> None:
        self._size += len(piece)
        self._text.append(piece)
        self._deadline.heard(piece)

    def add_call(self, name: str, piece: str) -> None:
        """A piece of the first tool call: its name comes once, its arguments in fragments."""
        self.tool = self.tool or name
        self._size += len(piece)
        self._arguments.append(piece)
        self._deadline.heard(piece)

    def reply(self) -> Reply:
        """The whole reply. Raises EOFError if the stream ended without a finish reason."""
        if self._is_oversize:
            self.finish_reason = "oversize"
        if not self.finish_reason:
            raise EOFError(_CUT if self.began else _NO_STREAM)
        reply = Reply("".join(self._text), self.tool, "".join(self._arguments), self.finish_reason, self.usage)
        return within_size(reply)

    @property
    def _is_oversize(self) -> bool:
        return self._size > LARGEST_REPLY


def within_size(reply: Reply) -> Reply:
    """`reply`, or what is kept of it with the finish reason `oversize`."""
    return _cut(reply) if len(reply.text) + len(reply.arguments) > LARGEST_REPLY else reply


def _cut(reply: Reply) -> Reply:
    return replace(reply, text=reply.text[:KEPT], arguments=reply.arguments[:KEPT], finish_reason="oversize")
