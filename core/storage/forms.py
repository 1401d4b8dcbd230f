"""How values of the program lie in columns of the store. A column of one name has one form, in whatever table."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Number
from typing import Any

from core.storage.moments import moment, moment_text
from core.storage.packing import Stored, json_of, pack_json

_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Form:
    """What becomes of a value on its way into a column and out of it."""

    stored: Callable[[Any], Any]
    read: Callable[[Any], Any]


def digest(value: str) -> Stored:
    """A SHA-256 in hex, as bytes; what is none stays text."""
    return bytes.fromhex(value) if _DIGEST.fullmatch(value) else value


def _json(stored: Any) -> Any:
    """SQLite makes a number of JSON that is one."""
    return stored if stored is None or isinstance(stored, Number) else json.loads(stored)


_JSON = Form(lambda value: json.dumps(value, separators=(",", ":")), _json)
_PACKED_JSON = Form(
    lambda value: pack_json(json.dumps(value)),
    lambda stored: None if stored is None else json_of(stored),  # older versions wrote text
)
_DIGESTS = Form(digest, lambda stored: stored if isinstance(stored, str) else stored.hex())
_MOMENT = Form(lambda at: at if isinstance(at, int) else moment_text(at), moment)
_BOOLEAN = Form(lambda value: value, lambda stored: None if stored is None else bool(stored))

FORMS: Mapping[str, Form] = {
    "value": _JSON,
    "parent_ids": _JSON,
    "rest": _JSON,
    "game": _JSON,
    "task": _PACKED_JSON,
    "request_hash": _DIGESTS,
    "at": _MOMENT,
    "is_buggy": _BOOLEAN,
    "is_valid": _BOOLEAN,
    "cached": _BOOLEAN,
}
"""Column → form; every other one holds its values as they are."""


def insert(connection: sqlite3.Connection, table: str, rows: Sequence[Mapping[str, Any]], conflict: str = "") -> int:
    """Add `rows`, which name the same columns; one they leave out is NULL, or the key that SQLite counts.

    Args:
        conflict: what becomes of a row that is there, `ON CONFLICT …`; without it that is an error.

    Returns:
        The key that SQLite gave the last row, if any.
    """
    statement, forms = _insertion(table, tuple(rows[0]), conflict)
    cursor = connection.cursor()
    for row in rows:
        cursor.execute(statement, [row[name] if form is None else form.stored(row[name]) for name, form in forms])
    return cursor.lastrowid or 0


@cache
def _insertion(table: str, names: tuple[str, ...], conflict: str) -> tuple[str, list[tuple[str, Form | None]]]:
    """The statement, and the form of each value that it takes."""
    listed, marks = ", ".join(f'"{name}"' for name in names), ", ".join("?" * len(names))
    statement = f"INSERT INTO {table} ({listed}) VALUES ({marks}) {conflict}"
    return statement, [(name, FORMS.get(name)) for name in names]
