"""Statements that SQLAlchemy has put into words once, and the driver runs: its layers cost more than SQLite's work."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Delete, Insert

Form = tuple[str, list[tuple[str, Callable[[Any], Any] | None]]]
"""SQL with a question mark a value; the values' names in order, each with what turns it into what SQLite holds."""


class Prepared:
    """A statement that a search repeats at every node.

    Args:
        statement: what it says. Columns of an insert that a row leaves out must be NULL or the key SQLite counts.
    """

    def __init__(self, statement: Insert | Delete) -> None:
        self._statement = statement
        self._forms: dict[tuple[str, ...], Form] = {}

    def run(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> int:
        """Run it for each of `rows`, which name the same values; the key that SQLite gave the last one, if any."""
        names = tuple(rows[0])
        form = self._forms.get(names)
        if form is None:
            form = self._forms[names] = self._form(connection, names)
        sql, values = form
        cursor = driver_of(connection).cursor()
        for row in rows:
            cursor.execute(sql, [row[name] if turn is None else turn(row[name]) for name, turn in values])
        return cursor.lastrowid or 0

    def _form(self, connection: Connection, names: tuple[str, ...]) -> Form:
        dialect = connection.dialect
        keys = list(names) if isinstance(self._statement, Insert) else None
        told: Any = self._statement.compile(dialect=dialect, column_keys=keys)
        turns = ((name, told.binds[name].type.dialect_impl(dialect)) for name in told.positiontup)
        return str(told), [(name, kind.bind_processor(dialect)) for name, kind in turns]


def driver_of(connection: Connection) -> sqlite3.Connection:
    """The connection that SQLAlchemy's one stands on."""
    found = connection.connection.dbapi_connection
    assert isinstance(found, sqlite3.Connection)
    return found
