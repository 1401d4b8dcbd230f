"""Bringing the file of an older version up to this one. Each step works on a plain `sqlite3` connection."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from core.storage.chain import Chain
from core.storage.connection import is_of_the_machine
from core.storage.models import create_tables
from core.storage.packing import MOST_BYTES, Stored, whole_text
from core.storage.views import create_views
from utils.errors import BrokenStoreError

SCHEMA_VERSION = 13
"""Raised by one with each change of tables or of what their JSON holds; a step below brings older files along."""
READ_IN_PLACE = 3
"""From this version on a reader needs no step: what it finds in an older form says so itself."""
CHAINED = 3
"""From this version on a run has a chain."""


def migrate(connection: sqlite3.Connection, path: Path, *, chained: bool = True) -> None:
    """Bring a store from its version to `SCHEMA_VERSION`, all or nothing.

    Args:
        path: its name in a BrokenStoreError.
        chained: let one link of the chain take all rows as the older version left them. A reader's copy has no chain.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in range(version, SCHEMA_VERSION):
            _STEPS[step](connection)
        create_tables(connection)  # no step makes what came beside them: the table of tickets
        if chained and version < CHAINED:
            chain = Chain(connection)
            chain.take_all(version)
            chain.link()
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:  # SQLite takes back by itself what a full disk refused
            connection.execute("ROLLBACK")
        if isinstance(error, ValueError | KeyError | zlib.error | sqlite3.Error) and not is_of_the_machine(error):
            raise BrokenStoreError(
                f"store '{path}' has schema {version} and cannot be read as {SCHEMA_VERSION}: {error}"
            ) from error
        raise


# ------------------------------------------------------------ 1 → 2

_FIELDS = {
    "message": "message", "interval": "interval", "artifacts": "artifacts", "files": "files", "features": "features",
    "metrics": "metrics", "name": "name", "duplicate_of": "duplicate_of", "gate": "refused_by", "rung": "rung",
    "behaviour": "behaviour", "cheap": "cheap_score", "unisolated": "unisolated_reason",
}  # fmt: skip
"""Key in the metadata of version 1 → field of a verdict and of a node."""

_NODE_FIELDS = _FIELDS | {
    name: name for name in ("fingerprint", "stages", "round", "refusal", "prompt_tokens", "completion_tokens",
                            "cost_usd", "review_error")
}  # fmt: skip


def _to_2(connection: sqlite3.Connection) -> None:
    """What code reads has left the metadata; a repair limit belongs to its task; programs lie as plain text."""
    for node_id, rest in connection.execute("SELECT id, rest FROM nodes").fetchall():
        typed = _typed(json.loads(rest), _NODE_FIELDS)
        connection.execute("UPDATE nodes SET rest = ? WHERE id = ?", (json.dumps(typed), node_id))
    for node_id, payload in connection.execute(
        "SELECT node_id, payload FROM stages WHERE stage = 'execute'"
    ).fetchall():
        typed = _typed(json.loads(payload), _FIELDS)
        connection.execute(
            "UPDATE stages SET payload = ? WHERE node_id = ? AND stage = 'execute'", (json.dumps(typed), node_id)
        )
    connection.execute(
        "UPDATE events SET body = json_set(json_remove(body, '$.gate'), '$.refused_by', json_extract(body, '$.gate'))"
        " WHERE type = 'candidate.rejected'"
    )
    connection.execute(
        "UPDATE tasks SET task = json_set(task, '$.repairs', coalesce(json_extract(why, '$.repairs'), 0)),"
        " why = json_remove(why, '$.repairs')"
    )
    room = MOST_BYTES
    for name, body in connection.execute(
        "SELECT DISTINCT hash, body FROM texts JOIN nodes ON nodes.code = texts.hash"
    ).fetchall():
        raw = whole_text(body)
        room -= len(raw)
        if room < 0:
            raise ValueError(f"its programs are longer than {MOST_BYTES >> 20} MB")
        connection.execute("UPDATE texts SET body = ? WHERE hash = ?", (_plain(raw, body), name))
    create_views(connection)


def _typed(found: dict[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    """A node's or a verdict's JSON of version 1 with its known metadata as fields."""
    metadata: dict[str, Any] = found.pop("metadata", {})
    moved = {fields[key]: metadata.pop(key) for key in fields.keys() & metadata.keys()}
    tournament = {key: metadata.pop(key) for key in ("standings", "crosstable", "promoted", "decision")
                  if key in metadata}  # fmt: skip
    if tournament:
        moved["tournament"] = tournament
    review = metadata.pop("review", None)
    if review is not None:
        moved["review"] = {"summary": found.get("analysis", ""), **review}
    known = {name: value for name, value in found.items() if value is not None}
    return {**moved, **known, **({"metadata": metadata} if metadata else {})}


def _plain(raw: bytes, stored: Stored) -> Stored:
    """A program as text; as it was stored where SQLite could not hold it as text."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return stored


# ------------------------------------------------------------ 2 → 3


def _to_3(connection: sqlite3.Connection) -> None:
    """Every record is in the chain. A game's row names its own event; it named the last of its transaction."""
    connection.execute(
        "UPDATE games SET seq = told.seq FROM ("
        " SELECT seq, json_extract(body, '$.game_id') AS game FROM events WHERE type = 'game.finished'"
        ") AS told WHERE told.game = games.key"
    )
    connection.execute(
        "CREATE TABLE chain (seq INTEGER NOT NULL PRIMARY KEY, records VARCHAR NOT NULL, head VARCHAR NOT NULL)"
    )


# ------------------------------------------------------------ 3 → 4


def _to_4(connection: sqlite3.Connection) -> None:
    """Rows that are there stay as they are, and so does the chain over them; new ones are packed."""


# ------------------------------------------------------------ 4 → 5


def _to_5(connection: sqlite3.Connection) -> None:
    """Rows that are there stay as they are; new ones hold what a resume asks of every node beside what is packed."""


# ------------------------------------------------------------ 5 → 6


def _to_6(connection: sqlite3.Connection) -> None:
    """The view `candidates` tells the winner's interval too. New runs keep each baseline beside the search whole."""
    connection.execute("DROP VIEW IF EXISTS candidates")
    create_views(connection)


# ------------------------------------------------------------ 6 → 7


def _to_7(connection: sqlite3.Connection) -> None:
    """Rows that are there stay as they are; new texts may hold their figures by columns."""


# ------------------------------------------------------------ 7 → 8


def _to_8(connection: sqlite3.Connection) -> None:
    """Rows that are there stay as they are; of new nodes `rest` may say that the writer sees nothing left to gain."""


# ------------------------------------------------------------ 8 → 9


def _to_9(connection: sqlite3.Connection) -> None:
    """The view `generations` tells the last verdict on a generation alone, where one was judged again."""
    connection.execute("DROP VIEW IF EXISTS generations")
    create_views(connection)


# ------------------------------------------------------------ 9 → 10


def _to_10(connection: sqlite3.Connection) -> None:
    """Rows that are there stay as they are; JSON of new ones is packed with another dictionary, and an event's does not
    name the node again that its row names."""


# ------------------------------------------------------------ 10 → 11


def _to_11(connection: sqlite3.Connection) -> None:
    """Rows that are there stay as they are; new games hold what engines thought of each move and how long they took,
    and new engines the games of their tournament that writers are told."""


# ------------------------------------------------------------ 11 → 12


def _to_12(connection: sqlite3.Connection) -> None:
    """Rows that are there stay as they are; of new nodes `rest` may say how they did beside their parent, and
    `run.started` that a process takes single steps."""


# ------------------------------------------------------------ 12 → 13


def _to_13(connection: sqlite3.Connection) -> None:
    """Rows that are there stay as they are; of new nodes `rest` may say how near they came to a time limit, and what
    their writer said of a repair."""


_STEPS: dict[int, Callable[[sqlite3.Connection], None]] = {
    1: _to_2, 2: _to_3, 3: _to_4, 4: _to_5, 5: _to_6, 6: _to_7, 7: _to_8, 8: _to_9, 9: _to_10,
    10: _to_11, 11: _to_12, 12: _to_13,
}  # fmt: skip
