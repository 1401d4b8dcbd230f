"""Tailer: one task a watched run that reads the store's new events and publishes them to the run's channel."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

from core.storage.connection import reading
from core.storage.database import DB_NAME
from core.storage.foreign_schema import runs_something
from core.storage.held import LOCK, lock_holder
from core.storage.moments import moment_text
from core.storage.unreadable import unreadable
from dashboard.server.fanout import FRAME_EVENTS, Channel
from dashboard.server.snapshot import event_json
from utils.errors import BrokenStoreError

POLL_SECONDS = 0.04
IDLE_SECONDS = 0.25
"""Between two looks at a run in which nothing has happened for a while."""
IDLE_AFTER = 2.0
LOCK_SECONDS = 0.5
_PAGE = "SELECT seq, at, body, node_id FROM events WHERE seq > ? ORDER BY seq LIMIT ?"


class EventFile:
    """The events of one run's store, by a read-only connection of its own. Every read is one short transaction.

    A task that is cancelled while a thread reads for it closes the file under that thread's hands, and SQLite would
    take the whole server down: so `close` waits for a read that goes on, and a read that comes later finds nothing.
    """

    def __init__(self, run_dir: Path) -> None:
        self._path = run_dir / DB_NAME
        self._connection = reading(self._path, seconds=5)
        self._identity = self._seen()
        self._lock = threading.Lock()
        self._open = True
        try:
            if foreign := runs_something(self._connection):
                raise sqlite3.DatabaseError(f"it holds {foreign.what}")
        except sqlite3.Error:
            self._connection.close()
            raise

    def is_there(self) -> bool:
        """False once the store was removed, or another lies in its place: what was opened could be read for ever."""
        return self._seen() == self._identity

    def _seen(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:  # a part of its path may have become a file, or be closed to us: it is there for nobody then
            return None
        return found.st_dev, found.st_ino

    def last_seq(self) -> int:
        return int(next(iter(self._read("SELECT max(seq) FROM events")), (0,))[0] or 0)

    def page(self, after: int, limit: int = FRAME_EVENTS) -> list[tuple[int, str]]:
        """(seq, JSON text) of events with `seq` > after, oldest first. BrokenStoreError for foreign values."""
        with unreadable(self._path.parent.name):
            return [(row[0], event_json(*row)) for row in self._read(_PAGE, after, limit)]

    def timed_page(self, after: int, limit: int = FRAME_EVENTS) -> list[tuple[int, str, str]]:
        """(seq, JSON text, time as stored)."""
        with unreadable(self._path.parent.name):
            return [(row[0], event_json(*row), moment_text(row[1])) for row in self._read(_PAGE, after, limit)]

    def close(self) -> None:
        with self._lock:
            self._open = False
            self._connection.close()

    def _read(self, query: str, *values: int) -> list[Any]:
        with self._lock:
            return self._connection.execute(query, values).fetchall() if self._open else []


class Tailer:
    """Feeds a channel until cancelled. It only reads, so that the search never waits for it."""

    def __init__(self, run_dir: Path, channel: Channel) -> None:
        self.run_dir = run_dir
        self.channel = channel
        self.file = EventFile(run_dir)

    async def run(self) -> None:
        """Poll until the run is removed; then, and on an unreadable store, the channel is closed with the reason."""
        try:
            await self._run()
        except (sqlite3.Error, BrokenStoreError) as error:
            self.channel.close(f"the store cannot be read: {error}")
        finally:
            self.file.close()

    async def _run(self) -> None:
        news, looked = time.monotonic(), 0.0
        while True:
            now = time.monotonic()
            page = await asyncio.to_thread(self.file.page, self.channel.last)
            # news of a run that nobody held: somebody took it up, and is to be told of before what he does
            if now - looked >= LOCK_SECONDS or (page and not self.channel.live):
                looked = now
                if not await asyncio.to_thread(self.file.is_there):
                    self.channel.close("the run was removed")
                    return
                self.channel.set_live(await asyncio.to_thread(lock_holder, self.run_dir / LOCK) is not None)
            if page:
                news = now
                self.channel.publish(page)
                await self.channel.taken()
            if len(page) < FRAME_EVENTS:
                await asyncio.sleep(POLL_SECONDS if now - news < IDLE_AFTER else IDLE_SECONDS)
