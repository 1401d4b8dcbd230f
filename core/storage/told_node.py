"""A node whose score is shown as a run's answer has to be as the journal told it, with the program that was scored.

A look at single rows, so that it costs nothing where one is shown: that a whole store holds together, with the chain
that vouches for it, is what `verify` looks at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from core.state.fingerprint import text_hash
from core.storage.database import Database
from core.storage.event_body import event_fields
from core.storage.packing import Stored
from core.storage.unreadable import unreadable
from utils.clean_text import one_line
from utils.errors import BrokenStoreError

_TOLD = {"metric_value": "metric", "metric_source": "metric_source", "failure": "failure",
         "is_buggy": "is_buggy", "is_valid": "is_valid"}  # fmt: skip
"""Column of a node → field of the event that tells of its verdict."""
MOST_ROWS = 20_000
"""Rows of a list that are looked at: a third of a second on one processor."""
VERDICT = "metric_value, metric_source, failure, is_buggy, is_valid, fitness"
"""Columns of a node that its event tells, and the one that follows from them."""
_NODE = f"SELECT id, step, {VERDICT}, code, code_hash FROM nodes"
_VERDICTS = "SELECT seq, node_id, body FROM events WHERE type = 'node.committed'"


def check_told(db: Database, node_ids: Iterable[str]) -> None:
    """Look at these nodes; one that is not in the journal is none of this check's.

    Raises:
        BrokenStoreError: a row is not what its event says of it, or its program is another: somebody changed the store;
            or a value of either is none of ours.
    """
    for node_id in node_ids:
        with unreadable(one_line(db.path.parent.name, 100)):
            why = next(_faults(db, node_id), "")
        if why:
            raise changed(db, f"node {one_line(node_id, 40)}: {why}")


def check_rows(db: Database, rows: Sequence[Mapping[str, Any]]) -> None:
    """Look at rows of nodes that are listed, without their programs; raises as `check_told`.

    Not where their steps lie farther apart than `MOST_ROWS`: then a list would take twice as long.
    """
    steps = [row["step"] for row in rows]
    if not rows or max(steps) - min(steps) >= MOST_ROWS:
        return
    told = db.select(f"{_VERDICTS} ORDER BY seq LIMIT ? OFFSET ?", (max(steps) - min(steps) + 1, max(min(steps), 0)))
    events = {node_id: (seq, body) for seq, node_id, body in told}
    for row in rows:
        if row["id"] not in events:  # a place that is not its own, or events of another version
            check_told(db, [row["id"]])
            continue
        with unreadable(one_line(db.path.parent.name, 100)):
            why = next(_disagreements(row, *events[row["id"]]), "")
        if why:
            raise changed(db, f"node {one_line(row['id'], 40)}: {why}")


def changed(db: Database, what: str) -> BrokenStoreError:
    """What is said of a store of which a part is not as the journal told it."""
    told = f"run {one_line(db.path.parent.name, 100)}: {what}, so somebody changed the store, and its scores are"
    return BrokenStoreError(f"{told} no evidence; `verify` lists what is not as the run left it")


def _faults(db: Database, node_id: str) -> Iterator[str]:
    node = next(iter(db.rows(f"{_NODE} WHERE id = ?", (node_id,))), None)
    if node is None:
        return
    for row in _verdicts(db, node_id, node["step"]):
        yield from _disagreements(node, row["seq"], row["body"])
    if node["code"] and text_hash(db.texts.get(node["code"])) != node["code_hash"]:
        yield "its program is not the one that was scored"


def _disagreements(node: Mapping[str, Any], seq: int, body: Stored) -> Iterator[str]:
    event = event_fields(body, node["id"])
    for column, name in _TOLD.items():
        if name in event and node[column] != event[name]:  # those of older versions told less
            yield f"its {column} is {node[column]!r:.60}, and event {seq} told {event[name]!r:.60}"
    if node["fitness"] not in (node["metric_value"], -(node["metric_value"] or 0.0)):
        yield f"its fitness is {node['fitness']!r:.60}, and its metric {node['metric_value']!r:.60}"


def _verdicts(db: Database, node_id: str, step: int) -> list[dict[str, Any]]:
    """What was told of it: the journal's places are those of these events, so that an index leads there."""
    found = db.rows(f"{_VERDICTS} ORDER BY seq LIMIT 1 OFFSET ?", (max(step, 0),))
    return found if found and found[0]["node_id"] == node_id else db.rows(f"{_VERDICTS} AND node_id = ?", (node_id,))
