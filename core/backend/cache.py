"""The cache that all runs share: answered calls in one SQLite file, so that a repeated request costs nothing."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.contracts import CallRecord
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


class ReplyCache:
    """Answers by (request hash, sample) in `path`, shared by all runs and processes of a project. Thread-safe.

    Raises:
        StoreError: the file cannot be opened, read or written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None

    def find(self, request_hash: str, sample: str) -> CallRecord | None:
        """Return the stored answer, or None. A row that this version cannot read counts as absent."""
        query = "SELECT record FROM reply WHERE request_hash = ? AND sample = ?"
        rows = self._run(lambda database: database.execute(query, (request_hash, sample)).fetchall())
        try:
            return CallRecord.model_validate_json(rows[0][0]) if rows else None
        except ValidationError:
            return None

    def save(self, record: CallRecord) -> None:
        """Store an answer, unless the request has one already."""
        query = "INSERT OR IGNORE INTO reply (request_hash, sample, record) VALUES (?, ?, ?)"
        row = (record.request_hash, record.sample, record.model_dump_json())

        def insert(database: sqlite3.Connection) -> None:
            with database:
                database.execute(query, row)

        self._run(insert)

    def close(self) -> None:
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

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
