"""Puts a streamed reply together, refuses one that was cut, and keeps an endless one out of memory and store."""

from __future__ import annotations

from dataclasses import replace

from core.backend.deadline import Deadline
from core.backend.exchange import Reply, Usage

LARGEST_REPLY = 1_000_000
"""Characters. No program is that long; what is longer is a fault of the server."""
KEPT = 2000
"""Characters that are kept of an oversize reply, to show what it was."""


class Collector:
    """Gathers the pieces of one streamed reply, within the deadline.

    Beyond LARGEST_REPLY pieces are counted, not kept: the stream is still read to its end, where the bill stands.
    """

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline
        self._text: list[str] = []
        self._arguments: list[str] = []
        self._size = 0
        self.tool = ""
        self.finish_reason = ""
        self.usage: Usage | None = None

    def add_text(self, piece: str) -> None:
        if self._fits(piece):
            self._text.append(piece)

    def add_call(self, name: str, piece: str) -> None:
        """A piece of the first tool call: its name comes once, its arguments in fragments."""
        self.tool = self.tool or name
        if self._fits(piece):
            self._arguments.append(piece)

    def reply(self) -> Reply:
        """The whole reply. Raises EOFError if the stream ended without a finish reason."""
        if not self.finish_reason:
            raise EOFError("the stream ended without a finish reason: the reply was cut off")
        reply = Reply("".join(self._text), self.tool, "".join(self._arguments), self.finish_reason, self.usage)
        return _cut(reply) if self._size > LARGEST_REPLY else reply

    def _fits(self, piece: str) -> bool:
        self._deadline.check()
        self._size += len(piece)
        return self._size <= LARGEST_REPLY


def within_size(reply: Reply) -> Reply:
    """`reply`, or what is kept of it with the finish reason `oversize`."""
    return _cut(reply) if len(reply.text) + len(reply.arguments) > LARGEST_REPLY else reply


def _cut(reply: Reply) -> Reply:
    return replace(reply, text=reply.text[:KEPT], arguments=reply.arguments[:KEPT], finish_reason="oversize")
