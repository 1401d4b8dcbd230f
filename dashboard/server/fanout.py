"""Channel: the newest events of one run, and how many clients read them without waiting for each other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

QUEUE_EVENTS = 1000
"""How many events a client may be behind before it loses the oldest of them."""
FRAME_EVENTS = 256
TAKE_SECONDS = 0.25
"""How long the tailer lets healthy clients take a burst before it reads on."""

Event = tuple[int, str]
"""(seq, JSON text)."""


@dataclass(eq=False, slots=True)
class Client:
    """One reader. Its queue is a place in the channel's shared ring: `cursor` is the last `seq` it was handed."""

    cursor: int
    stalled: bool = False


@dataclass(eq=False)
class Channel:
    """The last QUEUE_EVENTS events, shared by all clients of a run.

    1. `publish` never waits. A client that is more than QUEUE_EVENTS behind loses the events it has not taken, and is
       told which; no other client notices.
    2. An event is serialised once, and equal frames are built once, however many clients there are.
    """

    last: int
    """`seq` of the newest event published; the ring starts empty behind it."""
    live: bool = False
    closed: str = ""
    clients: set[Client] = field(default_factory=set)
    _ring: list[Event] = field(default_factory=list)
    _frames: dict[int, tuple[int, str]] = field(default_factory=dict)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _room: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def floor(self) -> int:
        """Events after this `seq` are in the ring."""
        return self._ring[0][0] - 1 if self._ring else self.last

    # ------------------------------------------------------------ the tailer's side

    def publish(self, events: Sequence[Event]) -> None:
        """Add events with increasing `seq`, all after `last`."""
        self._ring.extend(events)
        del self._ring[:-QUEUE_EVENTS]
        self.last = self._ring[-1][0]
        self._frames.clear()
        self._wake()

    async def taken(self) -> None:
        """Return when every healthy client has taken what there is, or after TAKE_SECONDS: who has not is stalled."""
        self._room.clear()
        if all(client.stalled or client.cursor >= self.last for client in self.clients):
            return
        try:
            async with asyncio.timeout(TAKE_SECONDS):  # wait_for may lose a cancellation
                await self._room.wait()
        except TimeoutError:
            for client in self.clients:
                client.stalled = client.cursor < self.last

    def set_live(self, live: bool) -> None:
        if live != self.live:
            self.live = live
            self._wake()

    def close(self, reason: str) -> None:
        self.closed = reason
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    # ------------------------------------------------------------ a client's side

    async def frames(self, client: Client) -> AsyncIterator[str]:
        """Frames for a client from its cursor on, for ever: status, gap and events. Ends when the channel is closed.

        The next frame is made when the last one is sent, so a slow client costs a cursor and nothing else.
        """
        told_live: bool | None = None
        while not self.closed:
            if told_live != self.live:
                told_live = self.live
                yield status_frame(self.live, self.last)
            elif client.cursor < self.floor:
                floor = self.floor
                yield f'{{"kind":"gap","from":{client.cursor + 1},"to":{floor}}}'
                client.cursor = floor
            elif client.cursor < self.last:
                end, frame = self._frame(client.cursor)
                yield frame
                client.cursor = end  # only now: while it is being sent, it is not taken
                self._took(client)
            else:
                await self._news.wait()

    def _frame(self, cursor: int) -> tuple[int, str]:
        known = self._frames.get(cursor)
        if known is None:
            start = cursor - self.floor
            known = self._frames[cursor] = events_frame(self._ring[start : start + FRAME_EVENTS])
        return known

    def _took(self, client: Client) -> None:
        """The client sent the frame and asks for more."""
        if client.cursor >= self.last:
            client.stalled = False
        if all(other.stalled or other.cursor >= self.last for other in self.clients):
            self._room.set()


def events_frame(events: Sequence[Event]) -> tuple[int, str]:
    """(last seq, JSON text) of one frame."""
    first, last = events[0][0], events[-1][0]
    body = ",".join(text for _, text in events)
    return last, f'{{"kind":"events","from":{first},"to":{last},"events":[{body}]}}'


def status_frame(live: bool, last: int) -> str:
    return f'{{"kind":"status","live":{"true" if live else "false"},"last_seq":{last}}}'
