"""The SQLite file of a run: opening, schema version, transactions."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from core.storage.chain import Chain
from core.storage.connection import (
    check_readable,
    connect,
    copied,
    is_on_read_only_disk,
    is_unmade,
    lacking_room,
    no_run,
    quoted_path,
    reading,
    version_of,
    wait_for_others,
    why_no_write,
)
from core.storage.foreign_schema import runs_something
from core.storage.forms import FORMS
from core.storage.migrations import READ_IN_PLACE, SCHEMA_VERSION, migrate
from core.storage.models import create_tables
from core.storage.packing import Stored
from core.storage.store_place import StorePlace
from core.storage.stored_texts import StoredTexts
from core.storage.views import create_views
from utils.errors import BrokenStoreError, LockedStoreError, StoreError, StoreVersionError

DB_NAME = "run.db"
"""The store's file in a run's folder."""
_BROKEN = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_READ_ONLY = ": its disk is read-only now; once it can be written, `resume` goes on from what is stored"
_MAKE_ROOM = "; make room there, and `resume` goes on from what is stored"
_MAKE_ROOM_FIRST = "; the run has not begun: make room there and begin it again"
_WHAT_IS_LEFT = (
    "; it was cut off or written over. What lies beside it, such as report.html and best_solution/, may be whole, and "
    "a copy of the folder from before can be resumed"
)
_PAGE = 2048
"""Bytes of a page of a new file: a text of some 2 KB takes one and a part of another. In 8192 an eighth of the room of
texts lay idle, in SQLite's 4096 a third."""
_LOG_BYTES = 4_000_000
"""So long grows the write-ahead log before its pages go into the file."""
_TEXT = "SELECT body FROM texts WHERE hash = ?"
Values = Sequence[Any] | Mapping[str, Any]
"""What a statement's placeholders stand for: in their order, or by their names."""


class Database:
    """One connection to a run's store. Thread-safe: one statement or transaction at a time.

    Args:
        path: the file; made with its schema unless `read_only`.
        read_only: refuse every write at the level of SQLite.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._address = quoted_path(path)
        """Holds wherever this process goes."""
        self._place: StorePlace | None = None
        """Of a file that is written to, once it is open."""
        self.read_only = read_only
        self.lock = threading.RLock()
        self._beside: sqlite3.Connection | None = None
        """Reads what is stored while another thread's transaction is under way; None before the first time."""
        self._reading = threading.Lock()
        """Of that connection, and of what is kept of the texts that were read."""
        self.texts = StoredTexts(path, self._text, self._reading)
        self._chain: Chain | None = None
        self.stored_version = 0
        """The schema version of the file when it was opened; 0 for a new one."""
        if read_only:
            check_readable(path)
        self.before: Callable[[], None] = lambda: None
        """Called before a transaction begins: what somebody has still to write comes first."""
        self._is_open = False
        """Within a transaction."""
        self._waited_in_vain = False
        """The newest transaction met another process that kept the file locked."""
        with self._refusals():
            self._connection = self._open()
            self._place = None if read_only else StorePlace(path)
            try:
                self._prepare()
            except BaseException:
                self._connection.close()  # whoever lists a hundred runs meets the broken one a hundred times
                raise

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing. Nested use joins the outer transaction.

        It is deferred: a reader takes no lock, a writer waits `BUSY_SECONDS` for it.
        """
        with self.lock:
            if self._is_open:
                yield self._connection
                return
            self.before()
            self.check_place()
            try:
                with self._refusals():
                    self._connection.execute("BEGIN")
                    self._is_open = True
                    yield self._connection
                    self.texts.write(self._connection)
                    if self._chain is not None:
                        self._chain.link()
                    self._connection.execute("COMMIT")
                    if self._chain is not None:
                        self._chain.committed()
                    self._wait_again(False)
            except BaseException as error:
                self._roll_back()
                if isinstance(error, LockedStoreError):
                    self._wait_again(True)
                raise
            finally:
                self._is_open = False

    def check_place(self) -> None:
        """StoreError where the file that is written to was removed or moved: who only waits would never hear of it."""
        if self._place is not None:
            self._place.check()

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        """What SQLite refuses is a StoreError in its words, without the statement's values: they may be a user's."""
        try:
            yield
        except sqlite3.Error as error:
            if self._chain is not None and self._chain.was_stopped(error):
                raise KeyboardInterrupt from error
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
            room = _MAKE_ROOM if (self._chain.head if self._chain else self.stored_version) else _MAKE_ROOM_FIRST
            more = room if code == sqlite3.SQLITE_FULL else ""
            if code == sqlite3.SQLITE_IOERR and (why := why_no_write(self.path)):
                more = f"{why}{room}"
            if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY) and is_on_read_only_disk(self.path):
                more = _READ_ONLY
            if code == sqlite3.SQLITE_CANTOPEN:
                more = lacking_room(self.path.parent)
            if code in _BROKEN:
                more = _WHAT_IS_LEFT
            kind = BrokenStoreError if code in _BROKEN else LockedStoreError if code in _LOCKED else StoreError
            raise kind(f"store '{self.path}': {str(error).splitlines()[0]}{more}") from error

    def _wait_again(self, in_vain: bool) -> None:
        """How long the next transaction waits for another process follows from the newest."""
        if in_vain != self._waited_in_vain:
            self._waited_in_vain = in_vain
            wait_for_others(self._connection, again=in_vain)

    def _roll_back(self) -> None:
        """After a failed transaction: what it stored is not there, so trust nothing."""
        with suppress(sqlite3.Error):  # of what broke the transaction the caller hears
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        self.texts.forget()
        if self._chain is not None:
            self._chain.undone()

    @property
    def head(self) -> str:
        """The newest head of the chain, for its one writer; '' before the first record."""
        return self._chain.head if self._chain is not None else ""

    def select(self, query: str, values: Values = (), *, stored: bool = False) -> list[tuple[Any, ...]]:
        """Rows as they lie. Outside of a transaction too: one statement sees one state.

        Args:
            stored: what is asked for is known to lie in the file: nothing has to be written first.
        """
        return self._asked(query, values, stored)[1]

    def rows(self, query: str, values: Values = (), *, stored: bool = False) -> list[dict[str, Any]]:
        """Rows by the names of their columns, with values as the program has them: `core.storage.forms`."""
        names, found = self._asked(query, values, stored)
        formed = [(name, FORMS[name].read) for name in names if name in FORMS]
        rows = [dict(zip(names, row, strict=True)) for row in found]
        for row in rows:
            for name, read in formed:
                row[name] = read(row[name])
        return rows

    def value(self, query: str, values: Values = ()) -> Any:
        """The first value of the first of such rows; None where there is none."""
        rows = self.rows(query, values)
        return next(iter(rows[0].values())) if rows else None

    def _asked(self, query: str, values: Values, stored: bool = False) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The columns' names, and the rows. What is stored is read beside another thread's transaction."""
        if not self.lock.acquire(blocking=not stored or self.read_only):
            return self._asked_beside(query, values)
        try:
            if not self._is_open and not stored:
                self.before()
            return self._fetched(self._connection, query, values)
        finally:
            self.lock.release()

    def _asked_beside(self, query: str, values: Values) -> tuple[list[str], list[tuple[Any, ...]]]:
        with self._reading:
            if self._beside is None:
                with self._refusals():
                    self._beside = connect(f"file:{self._address}?mode=ro")
            return self._fetched(self._beside, query, values)

    def _fetched(
        self, connection: sqlite3.Connection, query: str, values: Values
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        with self._refusals():
            cursor = connection.execute(query, values)
            return [told[0] for told in cursor.description], cursor.fetchall()

    def _text(self, name: str) -> Stored | None:
        found: Stored | None = next(iter(self.select(_TEXT, (name,), stored=True)), (None,))[0]
        return found

    def close(self) -> None:
        """Let go of the file."""
        with self.lock, self._reading:
            if self._beside is not None:
                self._beside.close()
            self._connection.close()

    def _open(self) -> sqlite3.Connection:
        connection = reading(self.path) if self.read_only else connect(f"file:{self._address}?mode=rwc")
        try:
            self.stored_version = version = version_of(connection)
            foreign = runs_something(connection)
        except sqlite3.Error as error:
            connection.close()
            if self.read_only and is_unmade(self.path, error):
                raise no_run(self.path) from error
            raise
        try:
            if foreign:
                why = f"holds {foreign.what}: it is none of ours, or was tampered with"
                raise BrokenStoreError(f"store '{self.path}' {why}")
            if not self.read_only:
                connection.execute(f"PRAGMA page_size={_PAGE}")
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute(f"PRAGMA wal_autocheckpoint={_LOG_BYTES // _PAGE}")
                connection.execute("PRAGMA synchronous=NORMAL")
            if 0 < version < (READ_IN_PLACE if self.read_only else SCHEMA_VERSION):
                connection = copied(connection) if self.read_only else connection
                migrate(connection, self.path, chained=not self.read_only)
            connection.execute(f"PRAGMA query_only={int(self.read_only)}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self) -> None:
        with self.transaction() as connection:
            version = version_of(connection)
        if version > SCHEMA_VERSION:
            raise StoreVersionError(
                f"store '{self.path}' has schema {version}, this program knows up to {SCHEMA_VERSION}: use a newer one"
            )
        if self.read_only:
            if version == 0:
                raise no_run(self.path)
            return
        with self.transaction() as connection:
            make_schema(connection)
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            self._chain = Chain(connection)
            self._chain.watch()


def make_schema(connection: sqlite3.Connection) -> None:
    """The tables and views of this version, as far as they are not there."""
    create_tables(connection)
    create_views(connection)
