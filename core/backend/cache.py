"""The cache that all runs share: answered calls in one SQLite file, so that a repeated request costs nothing."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.contracts import CallRecord
from utils.delayed_call import DelayedCall
from utils.errors import StoreError

_TABLE = """
CREATE TABLE IF NOT EXISTS reply (
    request_hash TEXT NOT NULL,
    sample TEXT NOT NULL,
    record TEXT NOT NULL,
    stored_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (request_hash, sample)
) WITHOUT ROWID
"""
_KEEP = """
INSERT INTO reply (request_hash, sample, record) VALUES (?, ?, ?)
ON CONFLICT (request_hash, sample) DO UPDATE SET record = excluded.record
WHERE json_extract(reply.record, '$.finish_reason') LIKE 'refused:%'
OR json_extract(reply.record, '$.finish_reason') = 'unwanted'
"""
"""The first answer stays. Caches of earlier versions hold refusals, too, which are none (`records.is_refusal`)."""


class ReplyCache:
    """Answers by (request hash, sample) in `path`, shared by all runs and processes of a project. Thread-safe.

    Args:
        delay: seconds that an answer may wait for others, to be stored in one transaction with them; 0: it is stored at
            once. A run has it in its own store by then.

    Raises:
        StoreError: the file cannot be opened, read or written.
    """

    def __init__(self, path: Path, delay: float = 0.0) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None
        self._waiting: dict[tuple[str, str], CallRecord] = {}
        self._soon = DelayedCall(self._store_soon, delay) if delay else None
        self._fault: StoreError | None = None
        """Why what waits could not be stored: raised where the next answer comes."""

    def find(self, request_hash: str, sample: str) -> CallRecord | None:
        """Return the stored answer, or None. A row that this version cannot read counts as absent."""
        waiting = self._waiting.get((request_hash, sample))
        if waiting is not None:
            return waiting
        query = "SELECT record FROM reply WHERE request_hash = ? AND sample = ?"
        rows = self._run(lambda database: database.execute(query, (request_hash, sample)).fetchall())
        try:
            return CallRecord.model_validate_json(rows[0][0]) if rows else None
        except ValidationError:
            return None

    def save(self, record: CallRecord) -> None:
        """Store an answer, unless the request has one already."""
        if self._fault is not None:
            raise self._fault
        with self._lock:
            self._waiting[record.request_hash, record.sample] = record
        if self._soon is None:
            self._store_waiting()
        else:
            self._soon.ask()

    def close(self) -> None:
        """Store what waits, and let go of the file."""
        if self._soon is not None:
            self._soon.close()
        self._store_waiting()
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _store_soon(self) -> None:
        try:
            self._store_waiting()
        except StoreError as error:
            self._fault = error

    def _store_waiting(self) -> None:
        """What cannot be stored waits on."""
        waiting = dict(self._waiting)
        if not waiting:
            return
        rows = [(*key, record.model_dump_json()) for key, record in waiting.items()]

        def insert(database: sqlite3.Connection) -> None:
            with database:
                database.executemany(_KEEP, rows)

        self._run(insert)
        with self._lock:
            for key in waiting:
                self._waiting.pop(key, None)

    def _run(self, action: Callable[[sqlite3.Connection], Any]) -> Any:
        with self._lock:
            try:
                return action(self._open())
            except sqlite3.Error as error:
                raise StoreError(
                    f"cache of replies '{self._path}': {error}; delete the file or set llm.cache=false"
                ) from error

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(self._path, timeout=30.0, check_same_thread=False)
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
            database.execute(_TABLE)
            self._database = database
        return self._database
