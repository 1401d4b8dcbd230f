"""A store whose schema runs something as rows are read or written: nobody's who only keeps a run.

A stranger's file may hold a view in the place of a table, which never ends or makes gigabytes, or a trigger that writes
beside us. So the schema is read first: it is the one thing in a file that runs nothing.
"""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from typing import NamedTuple

from core.storage.models import TABLES
from core.storage.views import CANDIDATES, CANDIDATES_BEFORE_6


class Foreign(NamedTuple):
    """What runs something."""

    name: str
    what: str
    """For a sentence: what it is, and its name."""


def runs_something(connection: sqlite3.Connection) -> Foreign | None:
    """The first such thing; None where all that is read and written are rows. A user's own tables and views may stand
    beside.
    """
    for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall():
        if kind == "trigger":
            return Foreign(name, f"a trigger ({name})")
        if kind == "view" and name.lower() == "candidates" and not is_candidates(sql):
            return Foreign(name, f"another view {name} than ours")
        if kind in ("table", "view") and name.lower() in TABLES and not _is_plain(connection, kind, name, sql):
            return Foreign(name, f"no plain table in the place of {name.lower()}")
    return None


def _is_plain(connection: sqlite3.Connection, kind: str, name: str, sql: str) -> bool:
    """A table of stored columns: neither a view, nor virtual, nor with columns that are computed."""
    words = [word.lower() for word in str(sql).split(None, 2)[:2]]
    if kind != "table" or words != ["create", "table"]:
        return False
    return connection.execute("SELECT 1 FROM pragma_table_xinfo(?) WHERE hidden", (name,)).fetchone() is None


def is_candidates(sql: str) -> bool:
    """True for the view of ours that programs ask, of this version or an older one."""
    return sql == CANDIDATES or sha256(str(sql).encode("utf-8", "surrogatepass")).hexdigest() == CANDIDATES_BEFORE_6
