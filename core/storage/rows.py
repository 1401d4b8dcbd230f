"""Between rows and the objects of floor 1 and 2."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC
from typing import Any

from core.contracts import CallRecord
from core.events import EVENT_ADAPTER, Event
from core.state.fingerprint import text_hash
from core.state.node import Node
from core.state.task import Task
from core.storage.database import Database

_COLUMNS = (
    "id", "step", "operator", "generation", "island", "slot", "metric_value", "fitness", "metric_source",
    "claimed_metric", "is_buggy", "is_valid", "failure", "exec_time", "ctime", "writer", "parent_ids",
)  # fmt: skip
_TEXTS = ("code", "term_out")
_OWN_COLUMNS = {"seq", "at"}
_INDEXED = ("children_ids", "visits", "total_reward")
"""Kept by the Journal, never stored: they follow from the nodes."""
_IN_COLUMNS = set(_COLUMNS)
_NOT_IN_REST = {*_COLUMNS, *_TEXTS, *_INDEXED}


def node_values(db: Database, node: Node) -> dict[str, Any]:
    """Column values of a node; texts are stored on the way."""
    values = node.model_dump(mode="json", include=_IN_COLUMNS)
    rest = node.model_dump(mode="json", exclude=_NOT_IN_REST, exclude_defaults=True)
    if "genes" in rest:  # they repeat the program's text: compressed like it
        rest["genes"] = db.put_text(json.dumps(rest["genes"]))
    return {
        **values,
        "code": db.put_text(node.code, plain=True),
        "code_hash": text_hash(node.code),
        "term_out": db.put_text(node.term_out),
        "rest": rest,
    }


def node_from_row(db: Database, row: Mapping[Any, Any], *, texts: bool = True) -> Node:
    """The node as committed. With `texts` False, code and output stay out (''), for lists."""
    values = {name: row[name] for name in _COLUMNS}
    values["code"] = db.get_text(row["code"]) if texts else ""
    values["term_out"] = db.get_text(row["term_out"]) if texts else ""
    rest = dict(row["rest"])
    if "genes" in rest:
        rest["genes"] = json.loads(db.get_text(rest["genes"])) if texts else {}
    return Node.model_validate({**values, **rest})


def task_values(task: Task) -> dict[str, Any]:
    """Column values of a task; `why` is the policy's to say."""
    columns = {name: getattr(task, name) for name in ("node_id", "round", "slot", "attempt")}
    return {**columns, "task": task.model_dump(mode="json")}


def event_values(event: Event) -> dict[str, Any]:
    """Column values of an event: `body` is the event as JSON without what has a column of its own."""
    body = event.model_dump_json(exclude=_OWN_COLUMNS)
    return {
        "seq": event.seq, "type": event.type, "node_id": getattr(event, "node_id", None), "at": event.at, "body": body,
    }  # fmt: skip


def call_from_row(db: Database, row: Mapping[Any, Any]) -> CallRecord:
    """The call as it was stored, its messages put together again."""
    values = {name: row[name] for name in CallRecord.model_fields}
    values["system"] = db.get_parts(row["system"])
    values["user"] = db.get_parts(row["user"])
    values["reply"] = db.get_text(row["reply"])
    return CallRecord.model_validate(values)


def event_from_row(row: Mapping[Any, Any]) -> Event:
    """The event with its place in the sequence and its time."""
    event = EVENT_ADAPTER.validate_json(row["body"])
    return event.model_copy(update={"seq": row["seq"], "at": row["at"].replace(tzinfo=UTC)})
