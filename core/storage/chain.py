"""The chain of a run's records: each transaction leaves a link that vouches for what it wrote and for all before it.

A link lists the rows that its transaction wrote, each with the hash of the row as SQLite holds it ('' for a row that
went), and its `head` is the hash of the head before it and of that list. Who knows the newest head knows the whole run.
`core.storage.chain_links` says how links lie in the store, `docs/verify.md` how to check them by hand.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from typing import Any

from core.storage.chain_links import CHAIN, Row, head_of, packed_records, spelled

CHAINED_FROM = "chained_from"
"""Fact: a list of `{schema, link}`. That link took the rows of an older version as they lay."""
SEPARATOR = "/"
"""Between the columns of a composite key."""

_encode = json.JSONEncoder(default=lambda raw: [raw.hex()]).encode


def as_json(values: Any) -> str:
    """Columns of a row, or what holds them, as JSON; bytes are a list of one text in hex."""
    return _encode(values)


def row_hash(values: Sequence[Any]) -> bytes:
    """SHA-256 of a row's columns in order, as JSON."""
    return sha256(_encode(values).encode()).digest()


def next_head(before: str, records: str) -> str:
    """The head of a link: SHA-256 of the head before it ('' for the first), a line feed, and its records as stored."""
    return sha256(f"{before}\n{records}".encode()).hexdigest()


def chained_tables(connection: sqlite3.Connection) -> dict[str, tuple[list[str], list[str]]]:
    """Table → (its columns, those of its key), of every table but the chain itself."""
    names = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ).fetchall()
    return {name: _columns(connection, name) for (name,) in names if name != CHAIN}


def _columns(connection: sqlite3.Connection, table: str) -> tuple[list[str], list[str]]:
    told = connection.execute("SELECT name, pk FROM pragma_table_info(?)", (table,)).fetchall()
    return [name for name, _ in told], [name for name, place in sorted(told, key=lambda row: row[1]) if place]


def row_hashes(connection: sqlite3.Connection) -> dict[Row, bytes]:
    """Table and key → hash of the row as it lies."""
    return {
        (table, name): row_hash(row)
        for table, told in chained_tables(connection).items()
        for name, row in rows_of(connection, table, *told)
    }


def key_of(values: Sequence[Any]) -> str:
    """The key of a row as links name it."""
    return SEPARATOR.join(map(str, values))


def rows_of(
    connection: sqlite3.Connection, table: str, columns: Sequence[str], key: Sequence[str]
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """(key, columns) of every row, in the order of the keys."""
    places = [columns.index(name) for name in key]
    listed, order = ", ".join(map(_quoted, columns)), ", ".join(map(_quoted, key)) or "rowid"
    for row in connection.execute(f"SELECT {listed} FROM {_quoted(table)} ORDER BY {order}"):
        yield key_of([row[place] for place in places]), row


class Chain:
    """Writes the links of one store. Triggers of its own connection tell it of every row: none can be forgotten.

    Args:
        connection: the run's one writer; its tables must be there.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._touched: dict[Row, bytes] = {}
        """Row → its hash at the end of the transaction; b'' for one that went."""
        self._before: dict[Row, bytes] = {}
        """Row → its hash before the transaction, of those that were there."""
        self._fault: Exception | None = None
        """What we raised last in a function that SQLite called."""
        self._stored = self._newest()
        self._next = self._stored

    def _newest(self) -> tuple[int, str]:
        newest = self._connection.execute(f"SELECT seq, head FROM {CHAIN} ORDER BY seq DESC LIMIT 1").fetchone()
        return (newest[0], head_of(newest[1])) if newest else (0, "")

    @property
    def head(self) -> str:
        """The newest link's head; '' before the first."""
        return self._stored[1]

    def watch(self) -> None:
        """From here on every row that this connection writes is in a link."""
        self._connection.create_function("row_written", -1, self._written)
        self._connection.create_function("row_gone", -1, self._gone)
        for table, (columns, key) in chained_tables(self._connection).items():
            for trigger in _triggers(table, tuple(columns), tuple(key)):
                self._connection.execute(trigger)

    def take_all(self, schema: int) -> None:
        """Have the next link list every row as it lies: those of version `schema` had no chain, or another form."""
        origins = self._connection.execute("SELECT value FROM facts WHERE key = ?", (CHAINED_FROM,)).fetchone()
        value = [*(json.loads(origins[0]) if origins else []), {"schema": schema, "link": self._stored[0] + 1}]
        self._connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (CHAINED_FROM, json.dumps(value)))
        for table, (columns, key) in chained_tables(self._connection).items():
            for name, row in rows_of(self._connection, table, columns, key):
                self._touched[table, name] = row_hash(row)

    def link(self) -> None:
        """Close the transaction's link: the last thing before its commit."""
        if not self._touched:
            return
        seq, head = self._stored
        told = spelled((*row, value.hex()) for row, value in self._touched.items())
        self._next = seq + 1, next_head(head, told)
        link = seq + 1, packed_records(self._touched, self._before), bytes.fromhex(self._next[1])
        self._connection.execute(f"INSERT INTO {CHAIN} VALUES (?, ?, ?)", link)
        self._touched, self._before = {}, {}

    def committed(self) -> None:
        """The transaction with the link is stored."""
        self._stored = self._next

    def undone(self) -> None:
        """The transaction failed: nothing of it is there, unless a stop came right behind its commit."""
        self._touched, self._before, self._fault = {}, {}, None
        with suppress(sqlite3.Error):  # what cannot be read has not been written
            self._stored = self._newest()
        self._next = self._stored

    def was_stopped(self, error: sqlite3.Error) -> bool:
        """True where the user's stop came in a function of ours: SQLite tells only that one raised something."""
        return "user-defined function" in str(error) and self._fault is None

    def _hash(self, values: Sequence[Any]) -> bytes:
        try:
            return row_hash(values)
        except Exception as error:
            self._fault = error
            raise

    def _written(self, table: str, key: str, *values: Any) -> None:
        self._touched[table, key] = self._hash(values)

    def _gone(self, table: str, key: str, *values: Any) -> None:
        if (table, key) not in self._touched:
            self._before[table, key] = self._hash(values)
        self._touched[table, key] = b""


_TRIGGERS = {
    "INSERT": "SELECT row_written({new});",
    "UPDATE": "SELECT row_gone({old}); SELECT row_written({new});",
    "DELETE": "SELECT row_gone({old});",
}
"""A row whose key changes is one that went and one that came."""


@lru_cache(256)
def _triggers(table: str, columns: tuple[str, ...], key: tuple[str, ...]) -> list[str]:
    """A third of what it takes to open a store; every store of a version has the same."""
    new, old = (f"'{table}', {_key(row, key)}, {_listed(row, columns)}" for row in ("NEW", "OLD"))
    return [
        f"CREATE TEMP TRIGGER {_quoted(f'chain_{table}_{event}')} AFTER {event} ON main.{_quoted(table)} "
        f"BEGIN {body.format(new=new, old=old)} END"
        for event, body in _TRIGGERS.items()
    ]


def _listed(row: str, columns: Sequence[str]) -> str:
    return ", ".join(f"{row}.{_quoted(name)}" for name in columns)


def _key(row: str, key: Sequence[str]) -> str:
    return f" || '{SEPARATOR}' || ".join(f"CAST({row}.{_quoted(name)} AS TEXT)" for name in key)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
