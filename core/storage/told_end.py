"""What a run is shown to have come to, its final scores and its baselines, has to be as its journal told it at the end.

A look at a few rows: the facts against the events that told them, and against the newest links of the chain, which hold
the beginning of each row's hash. What follows from the whole chain is for `verify`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from core.storage.chain import row_hash
from core.storage.chain_links import CHAIN, unpacked_records
from core.storage.database import Database
from core.storage.event_body import event_fields
from core.storage.migrations import READ_IN_PLACE
from core.storage.told_node import changed
from core.storage.unreadable import unreadable
from utils.clean_text import one_line

_FACTS = ("final", "baselines", "status")
_LINKS = 64
"""Newest links that are looked at: an end writes some ten, and what comes after it few."""
_FINAL = ("node_id", "metric", "interval")
_BASELINE = ("name", "metric", "failure")
_TOLD = "SELECT seq, node_id, body FROM events WHERE type = ? ORDER BY seq"


def check_end(db: Database, facts: Mapping[str, Any]) -> None:
    """Look at the final score and the baselines of a run.

    Args:
        facts: all named facts of the run, as they lie.

    Raises:
        BrokenStoreError: one is not as the journal told it: somebody changed the store.
    """
    with unreadable(one_line(db.path.parent.name, 100)):
        why = next(_faults(db, facts), "")
    if why:
        raise changed(db, why)


def _faults(db: Database, facts: Mapping[str, Any]) -> Iterator[str]:
    final = facts.get("final") or {}
    if final.get("node_id"):
        told = [*_events(db, "final.scored")][-1:]
        yield from (f"its final {fault}" for seq, event in told for fault in _unlike(final, event, seq, _FINAL))
    baselines = {event["node_id"]: (seq, event) for seq, event in _events(db, "baseline.scored")}
    for row in facts.get("baselines") or []:
        if row.get("node_id") in baselines:
            seq, event = baselines[row["node_id"]]
            yield from (f"its baseline's {fault}" for fault in _unlike(row, event, seq, _BASELINE))
    yield from _unlinked(db)


def _events(db: Database, kind: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for row in db.rows(_TOLD, (kind,)):
        yield row["seq"], event_fields(row["body"], row["node_id"])


def _unlike(row: Mapping[str, Any], event: Mapping[str, Any], seq: int, names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        if name in event and row.get(name) != event[name]:
            yield f"{name} is {row.get(name)!r:.60}, and event {seq} told {event[name]!r:.60}"


def _unlinked(db: Database) -> Iterator[str]:
    """Facts that are not the rows of which the newest link that names them tells the beginning of the hash."""
    if db.stored_version < READ_IN_PLACE:  # its rows are read as they would be now
        return
    with db.transaction() as connection:
        rows = connection.execute(f"SELECT key, value FROM facts WHERE key IN {_FACTS}").fetchall()
        links = connection.execute(f"SELECT records FROM {CHAIN} ORDER BY seq DESC LIMIT {_LINKS}").fetchall()
    tags: dict[str, bytes] = {}
    for (records,) in links:
        with suppress(ValueError):  # of what is no link of ours `verify` tells
            for record in () if isinstance(records, str) else unpacked_records(records):
                if record.table == "facts":
                    tags.setdefault(record.key, record.tag)
    for key, value in rows:
        if key in tags and not row_hash((key, value)).startswith(tags[key] or b"\0" * 33):
            yield f"its fact {key} is not the one that its chain names"
