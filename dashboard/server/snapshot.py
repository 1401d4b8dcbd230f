"""A run's state at one `seq`, as the few events that made it. The page reduces them as it reduces live ones.

The state is not described a second time in another form, so server and page cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core.storage.database import Database
from core.storage.event_body import event_text
from core.storage.moments import moment_text
from core.storage.packing import Stored
from core.storage.reader import RunReader
from core.storage.unreadable import reads_store
from dashboard.server.overview import NEWEST, totals
from dashboard.server.schemas.runs import RunDetail

KEPT = (
    "run.started", "run.finished", "node.committed", "baseline.scored", "final.scored", "ladder.counted",
    "island.migrated", "island.reset", "generation.started", "generation.finished", "strategist.question",
    "builder.completed", "candidate.rejected", "game.started", "game.finished", "note.added", "node.marked",
    "ticket.closed", "warning",
)  # fmt: skip
"""Types that a snapshot holds whole (of warnings the newest); of the others only what is still open."""

BOARDS = 32
"""Newest games whose last position a snapshot holds, besides all that are not finished."""

WARNINGS = 200
"""Newest warnings that a snapshot holds: a model that refuses all night writes thousands."""

_KEPT = (
    "SELECT seq, at, CASE type WHEN 'game.finished' THEN json_remove(body, '$.pgn') ELSE body END, node_id FROM events"
    f" WHERE seq <= :at AND type IN ({', '.join(repr(kind) for kind in KEPT)})"
    " AND (type != 'warning' OR seq >= (SELECT min(seq) FROM (SELECT seq FROM events WHERE type = 'warning'"
    " AND seq <= :at ORDER BY seq DESC LIMIT :warnings)))"
)
_OPEN_NODES = (
    "SELECT seq, at, body, node_id FROM events WHERE seq <= :at"
    " AND type IN ('node.proposed', 'llm.called', 'node.stage', 'ticket.leased')"
    " AND node_id NOT IN (SELECT node_id FROM events WHERE type IN ('node.committed', 'ticket.closed') AND seq <= :at)"
)
_FIRST_BOARD = (
    "SELECT min(seq) FROM (SELECT seq FROM events WHERE type = 'game.started' AND seq <= :at"
    " ORDER BY seq DESC LIMIT :boards)"
)
_LAST_MOVES = (
    "SELECT max(seq), at, body, node_id FROM events WHERE type = 'game.move' AND seq BETWEEN :first AND :at"
    " GROUP BY json_extract(body, '$.game_id')"
)


@reads_store
def snapshot_json(reader: RunReader, detail: RunDetail, at: int | None = None) -> str:
    """The JSON of `Snapshot`, all of it read in one transaction."""
    with reader.db.transaction():
        newest = reader.last_seq()
        seq = newest if at is None else min(at, newest)
        rows = _state_rows(reader.db, seq)
        sums = totals(reader, seq if at is not None else NEWEST)
    events = ",".join(event_json(*row) for row in rows)
    run = detail.model_dump_json()
    return f'{{"as_of_seq":{seq},"run":{run},"totals":{sums.model_dump_json()},"events":[{events}]}}'


def event_rows(reader: RunReader, after: int, limit: int) -> list[Any]:
    """Events with `seq` > after, as they lie."""
    return reader.db.select(
        "SELECT seq, at, body, node_id FROM events WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)
    )


def event_json(seq: int, at: int | str, body: Stored, node_id: str | None) -> str:
    """A stored event as the JSON of its model, without parsing it: `body` is our own serialisation."""
    return f'{{"seq":{seq},"at":"{iso(at)}",{event_text(body, node_id)[1:]}'


def iso(at: int | str) -> str:
    """A stored time as ISO 8601."""
    at = moment_text(at)
    return at.replace(" ", "T", 1) + ("" if at.endswith(("Z", "+00:00")) else "Z")


def _state_rows(db: Database, at: int) -> Iterable[Any]:
    rows = [*db.select(_KEPT, {"at": at, "warnings": WARNINGS}), *db.select(_OPEN_NODES, {"at": at})]
    first = db.value(_FIRST_BOARD, {"at": at, "boards": BOARDS})
    if first is not None:
        rows += db.select(_LAST_MOVES, {"at": at, "first": first})
    return sorted(rows, key=lambda row: row[0])
