"""Between rows and the objects of floor 1 and 2."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC
from itertools import accumulate
from typing import Any

from core.contracts import CallRecord
from core.events import EVENT_ADAPTER, Event
from core.state.fingerprint import text_hash
from core.state.node import Node
from core.state.task import Task
from core.storage.database import OUTPUT, PROGRAM, Database
from core.storage.packing import json_text, pack_json

_COLUMNS = (
    "id", "step", "operator", "generation", "island", "slot", "metric_value", "fitness", "metric_source",
    "claimed_metric", "is_buggy", "is_valid", "failure", "exec_time", "ctime", "writer", "parent_ids",
)  # fmt: skip
_TEXTS = ("code", "term_out")
_MESSAGES = ("system", "user", "reply")
_OWN_COLUMNS = {"seq", "at"}
_OF_EVERY_NODE = {"node.proposed", "llm.called", "node.stage", "node.committed"}
"""Events whose JSON is packed. That of the others is text, so that SQL can ask it."""
_INDEXED = ("children_ids", "visits", "total_reward")
"""Kept by the Journal, never stored: they follow from the nodes."""
_IN_COLUMNS = set(_COLUMNS)
_NOT_IN_REST = {*_COLUMNS, *_TEXTS, *_INDEXED}


def call_values(db: Database, record: CallRecord) -> dict[str, Any]:
    """Column values of a call; its messages and its reply are stored on the way."""
    values = record.model_dump()
    for name in _MESSAGES:
        values[name] = db.put_parts(values[name], f"names {name} {record.role}")
    return values


def node_values(db: Database, node: Node) -> dict[str, Any]:
    """Column values of a node; texts are stored on the way."""
    values = node.model_dump(mode="json", include=_IN_COLUMNS)
    rest = node.model_dump(mode="json", exclude=_NOT_IN_REST, exclude_defaults=True)
    if "genes" in rest:
        rest["genes"] = _lengths(node) or db.put_text(json.dumps(rest["genes"]), "genes")
    return {
        **values,
        "code": db.put_text(node.code, PROGRAM),
        "code_hash": text_hash(node.code),
        "term_out": db.put_text(node.term_out, OUTPUT),
        "rest": rest,
    }


def node_from_row(db: Database, row: Mapping[Any, Any], *, texts: bool = True) -> Node:
    """The node as committed. With `texts` False, code and output stay out (''), for lists."""
    values = {name: row[name] for name in _COLUMNS}
    values["code"] = db.get_text(row["code"]) if texts else ""
    values["term_out"] = db.get_text(row["term_out"]) if texts else ""
    rest = dict(row["rest"])
    if "genes" in rest:
        rest["genes"] = _genes(db, values["code"], rest["genes"]) if texts else {}
    return Node.model_validate({**values, **rest})


def _lengths(node: Node) -> list[list[Any]]:
    """Its sections as (name, length): they are the program, cut up. [] for a node of which that is not so."""
    cuts = [[name, len(text)] for name, text in node.genes.items()]
    return cuts if "".join(node.genes.values()) == node.code else []


def _genes(db: Database, code: str, stored: str | list[list[Any]]) -> dict[str, str]:
    """The sections of a program, from their lengths, or from a text that holds them all."""
    if isinstance(stored, str):
        return dict(json.loads(db.get_text(stored)))
    ends = list(accumulate(length for _, length in stored))
    return {name: code[end - length : end] for (name, length), end in zip(stored, ends, strict=True)}


def task_values(task: Task) -> dict[str, Any]:
    """Column values of a task; `why` is the policy's to say."""
    columns = {name: getattr(task, name) for name in ("node_id", "round", "slot", "attempt")}
    return {**columns, "task": task.model_dump(mode="json")}


def event_values(event: Event) -> dict[str, Any]:
    """Column values of an event: `body` is the event as JSON without `seq` and `at`."""
    told = event.model_dump_json(exclude=_OWN_COLUMNS)
    body = pack_json(told) if event.type in _OF_EVERY_NODE else told
    return {
        "seq": event.seq, "type": event.type, "node_id": getattr(event, "node_id", None), "at": event.at, "body": body,
    }  # fmt: skip


def call_from_row(db: Database, row: Mapping[Any, Any]) -> CallRecord:
    """The call as it was stored, its messages put together again."""
    values = {name: row[name] for name in CallRecord.model_fields}
    for name in _MESSAGES:
        values[name] = db.get_parts(row[name])
    return CallRecord.model_validate(values)


def event_from_row(row: Mapping[Any, Any]) -> Event:
    """The event with its place in the sequence and its time."""
    event = EVENT_ADAPTER.validate_json(json_text(row["body"]))
    return event.model_copy(update={"seq": row["seq"], "at": row["at"].replace(tzinfo=UTC)})
