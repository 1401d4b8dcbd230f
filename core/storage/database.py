"""The SQLite file of a run: opening, schema version, transactions, compressed texts."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

from sqlalchemy import Connection, create_engine, event, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import StaticPool
from sqlmodel import SQLModel

from core.storage.chain import Chain
from core.storage.migrations import SCHEMA_VERSION, migrate
from core.storage.prepared_statement import driver_of
from core.storage.statements import ADD_TEXT, SHOW_TEXT, TEXT
from core.storage.views import create_views
from utils.errors import StoreError, StoreVersionError, UnknownRunError

DB_NAME = "run.db"
"""The store's file in a run's folder."""
BUSY_SECONDS = float(os.environ.get("SWARM_EVO_BUSY_SECONDS") or 30.0)
"""How long a write waits for another process that holds the file locked; then it is a StoreError."""
_KNOWN_TEXTS = 4096
_HEADING_OR_FENCE = re.compile(r"(?m)^(?:#{1,2} |(`{3,}).*\n?)")


class Database:
    """One connection to a run's store. Thread-safe: one statement or transaction at a time.

    Args:
        path: the file; made with its schema unless `read_only`.
        read_only: refuse every write at the level of SQLite.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self.lock = threading.RLock()
        self._known: OrderedDict[str, bool] = OrderedDict()
        """Names of stored texts → whether they lie as plain text."""
        self._waiting: dict[str, bytes | str] = {}
        self._chain: Chain | None = None
        self.stored_version = 0
        """The schema version of the file when it was opened; 0 for a new one."""
        if read_only and not path.is_file():
            raise StoreError(f"no store at '{path}'")
        self._engine = create_engine("sqlite://", creator=self._open, poolclass=StaticPool)
        event.listen(self._engine, "begin", _begin)
        try:
            self._connection = self._engine.connect()
            self._prepare()
        except BaseException as error:
            self._engine.dispose()  # whoever lists a hundred runs meets the broken one a hundred times
            if isinstance(error, SQLAlchemyError | sqlite3.Error):
                raise StoreError(f"store '{path}': {_reason(error)}") from error
            raise

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """All or nothing. Nested use joins the outer transaction."""
        with self.lock:
            if self._connection.in_transaction():
                yield self._connection
                return
            try:
                with self._connection.begin():
                    yield self._connection
                    self._write_texts()
                    if self._chain is not None:
                        self._chain.link()
                if self._chain is not None:
                    self._chain.committed()
            except (SQLAlchemyError, sqlite3.Error) as error:
                self._forget()
                raise StoreError(f"store '{self.path}': {_reason(error)}") from error
            except BaseException:
                self._forget()
                raise

    @property
    def head(self) -> str:
        """The newest head of the chain, for its one writer; '' before the first record."""
        return self._chain.head if self._chain is not None else ""

    def put_text(self, body: str, *, plain: bool = False) -> str:
        """Store `body` once and return its name; '' for ''. Call inside a transaction.

        Args:
            plain: as text that any reader of SQLite can show, also where it was stored compressed before.
        """
        if not body:
            return ""
        raw = body.encode("utf-8", "surrogatepass")
        name = blake2b(raw, digest_size=12).hexdigest()
        if name not in self._known or (plain and not self._known[name]):
            self._waiting[name] = _shown(body) if plain else packed(raw)
            self._known[name] = plain
            if len(self._known) > _KNOWN_TEXTS:
                self._known.popitem(last=False)
        return name

    def _write_texts(self) -> None:
        """All texts of a transaction in two statements, just before its commit."""
        rows = [{"hash": name, "body": stored} for name, stored in self._waiting.items()]
        self._waiting = {}
        for statement, kind in ((ADD_TEXT, bytes), (SHOW_TEXT, str)):
            chosen = [row for row in rows if isinstance(row["body"], kind)]
            if chosen:
                statement.run(self._connection, chosen)

    def _forget(self) -> None:
        """After a failed transaction: what it stored is not there, so trust nothing."""
        self._waiting = {}
        self._known.clear()
        if self._chain is not None:
            self._chain.undone()

    def put_parts(self, body: str) -> list[str]:
        """Store a long message by its sections and fenced blocks, so that what many texts share lies once."""
        return [self.put_text(part) for part in message_parts(body)]

    def get_text(self, name: str) -> str:
        """The text of that name; '' for ''. Raises StoreError if it is missing."""
        if not name:
            return ""
        with self.transaction() as connection:
            stored = self._waiting.get(name)
            if stored is None:
                stored = connection.execute(TEXT, {"name": name}).scalar()
        if stored is None:
            raise StoreError(f"store '{self.path}': text {name} is missing")
        return unpacked(stored)

    def get_parts(self, names: list[str]) -> str:
        """The message that `put_parts` cut."""
        return "".join(self.get_text(name) for name in names)

    def close(self) -> None:
        """Let go of the file."""
        with self.lock:
            self._connection.close()
            self._engine.dispose()

    def _is_archived(self) -> bool:
        """True where nobody can be writing: a closed store in a folder that we cannot write, as on a read-only disk.

        SQLite would refuse it, since a reader of a WAL file makes an index beside it.
        """
        log = self.path.with_name(self.path.name + "-wal")
        return not os.access(self.path.parent, os.W_OK) and not log.exists()

    def _open(self) -> sqlite3.Connection:
        mode = ("ro&immutable=1" if self._is_archived() else "ro") if self.read_only else "rwc"
        connection = _connect(f"file:{quoted_path(self.path)}?mode={mode}")
        try:
            self.stored_version = version = _version(connection)
            if not self.read_only:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=NORMAL")
            if 0 < version < SCHEMA_VERSION:
                connection = _copied(connection) if self.read_only else connection
                migrate(connection, self.path, chained=not self.read_only)
            connection.execute(f"PRAGMA query_only={int(self.read_only)}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self) -> None:
        with self.transaction() as connection:
            version = _version(driver_of(connection))
        if version > SCHEMA_VERSION:
            raise StoreVersionError(
                f"store '{self.path}' has schema {version}, this program knows up to {SCHEMA_VERSION}: use a newer one"
            )
        if self.read_only:
            if version == 0:
                raise UnknownRunError(f"'{self.path}' holds no run: it was killed before it began, or is none of ours")
            return
        with self.transaction() as connection:
            SQLModel.metadata.create_all(connection)
            create_views(driver_of(connection))
            connection.execute(text(f"PRAGMA user_version={SCHEMA_VERSION}"))
            self._chain = Chain(driver_of(connection))
            self._chain.watch()


def packed(raw: bytes) -> bytes:
    """A text's bytes as a row of `texts` holds them."""
    small = zlib.compress(raw, 6)
    return small if len(small) < len(raw) else b"\0" + raw


def unpacked(stored: bytes | str) -> str:
    """The text of a row of `texts`."""
    if isinstance(stored, str):
        return stored
    raw = stored[1:] if stored[:1] == b"\0" else zlib.decompress(stored)
    return raw.decode("utf-8", "surrogatepass")


def message_parts(body: str) -> list[str]:
    """`body` cut at its headings and round what stands between fences: a program in a prompt is the node's own text."""
    cuts, fence = [0], ""
    for found in _HEADING_OR_FENCE.finditer(body):
        marks = found[1]
        if not fence:
            fence = marks or ""
            cuts.append(found.end() if marks else found.start())
        elif marks == fence and found[0].rstrip() == fence:
            fence = ""
            cuts.append(found.start())
    return [part for start, end in pairwise([*cuts, len(body)]) if (part := body[start:end])]


def make_schema(connection: sqlite3.Connection) -> None:
    """The tables and views of this version in an empty database."""
    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    with engine.begin() as opened:
        SQLModel.metadata.create_all(opened)
    create_views(connection)


def _begin(connection: Connection) -> None:
    """A deferred transaction: a reader takes no lock, a writer waits `BUSY_SECONDS` for it."""
    driver_of(connection).execute("BEGIN")


def _connect(place: str) -> sqlite3.Connection:
    return sqlite3.connect(place, uri=True, check_same_thread=False, timeout=BUSY_SECONDS, isolation_level=None)


def _copied(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The store in memory, for a reader of an older version: the file stays as it is."""
    copy = _connect(":memory:")
    with closing(connection):
        connection.backup(copy)
    return copy


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _shown(body: str) -> str | bytes:
    """The text itself; compressed where it holds half a character, which SQLite has no form for."""
    try:
        body.encode("utf-8")
    except UnicodeEncodeError:
        return packed(body.encode("utf-8", "surrogatepass"))
    return body


def quoted_path(path: Path) -> str:
    """For a `file:` address."""
    from urllib.parse import quote

    return quote(str(path.resolve()))


def _reason(error: Exception) -> str:
    """SQLite's own words, without the statement and its values (they may hold a user's data)."""
    return str(getattr(error, "orig", None) or error).splitlines()[0]
