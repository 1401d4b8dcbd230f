"""Hub: the channels of all watched runs. A run is tailed while somebody watches it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from core.storage.held import LOCK, lock_holder
from dashboard.server.fanout import FRAME_EVENTS, Channel, Client, events_frame
from dashboard.server.tailer import EventFile, Tailer


@dataclass(slots=True)
class _Watched:
    channel: Channel
    tailer: Tailer
    task: asyncio.Task[None]


class Hub:
    """Used from the event loop only."""

    def __init__(self) -> None:
        self._watched: dict[Path, _Watched] = {}

    @asynccontextmanager
    async def follow(self, run_dir: Path, after: int) -> AsyncIterator[AsyncGenerator[str, None]]:
        """Frames of a run after a `seq`: first what is stored, page by page at the client's pace, then what is new.

        Raises sqlite3.Error for a store that cannot be read.
        """
        watched = self._watch(run_dir)
        client = Client(cursor=after, stalled=True)
        watched.channel.clients.add(client)
        try:
            yield self._frames(run_dir, watched.channel, client)
        finally:
            watched.channel.clients.discard(client)
            if not watched.channel.clients and self._watched.get(run_dir) is watched:
                del self._watched[run_dir]
                await _stop(watched)

    async def close(self) -> None:
        """End every channel; clients that leave meanwhile find nothing left to stop."""
        watched_now = list(self._watched.values())
        self._watched.clear()
        for watched in watched_now:
            watched.channel.close("the server is going down")
            await _stop(watched)

    def _watch(self, run_dir: Path) -> _Watched:
        known = self._watched.get(run_dir)
        if known is not None and not known.channel.closed:
            return known
        channel = Channel(last=0, live=lock_holder(run_dir / LOCK) is not None)
        tailer = Tailer(run_dir, channel)
        try:
            channel.last = tailer.file.last_seq()
        except sqlite3.Error:
            tailer.file.close()
            raise
        watched = _Watched(channel, tailer, asyncio.create_task(tailer.run(), name=f"tail {run_dir.name}"))
        self._watched[run_dir] = watched
        return watched

    async def _frames(self, run_dir: Path, channel: Channel, client: Client) -> AsyncGenerator[str, None]:
        client.cursor = min(client.cursor, channel.last)
        if client.cursor < channel.floor:
            async with aclosing(_stored(run_dir, channel, client)) as stored:
                async for frame in stored:
                    yield frame
        async for frame in channel.frames(client):
            yield frame


async def _stored(run_dir: Path, channel: Channel, client: Client) -> AsyncGenerator[str, None]:
    """What the ring does not hold any more, from the store."""
    file = EventFile(run_dir)
    try:
        while client.cursor < channel.floor:
            page = await asyncio.to_thread(file.page, client.cursor, FRAME_EVENTS)
            if not page:
                return
            client.cursor, frame = events_frame(page)
            yield frame
    finally:
        file.close()


async def _stop(watched: _Watched) -> None:
    watched.task.cancel()
    await asyncio.gather(watched.task, return_exceptions=True)
    watched.tailer.file.close()  # a task that was cancelled before its first step closed nothing
