"""Between rows and the objects of floor 1 and 2."""

from __future__ import annotations

import json
import re
from base64 import b85decode, b85encode
from collections.abc import Mapping
from typing import Any

from core.contracts import CallRecord
from core.events import EVENT_ADAPTER, Event
from core.state.fingerprint import text_hash
from core.state.journal import digest_line
from core.state.node import Node
from core.state.task import Task
from core.storage.database import OUTPUT, PROGRAM, Database
from core.storage.moments import microseconds
from core.storage.packing import Stored, json_of, json_text, pack_json
from utils.genes import cut_genes, gene_lengths

_COLUMNS = (
    "id", "step", "operator", "generation", "island", "slot", "metric_value", "fitness", "metric_source",
    "claimed_metric", "is_buggy", "is_valid", "failure", "exec_time", "ctime", "writer", "parent_ids",
)  # fmt: skip
_TEXTS = ("code", "term_out")
JOURNAL = "journal"
"""Fact: `{nodes, sha256}`, the journal's hash over so many nodes."""
_MESSAGES = ("system", "user", "reply")
_OWN_COLUMNS = {"seq", "at"}
_SHOWN = {
    "message", "duplicate_of", "name", "plan", "interval", "prompt_tokens", "completion_tokens", "cost_usd", "metadata",
    "attempts",
}  # fmt: skip
"""Fields in `rest` that views and queries ask."""
_DIGEST = re.compile("[0-9a-f]{64}")
_TASK_COLUMNS = {"node_id", "round", "slot", "attempt"}
_OF_EVERY_NODE = {"round.opened", "node.proposed", "llm.called", "node.stage", "node.committed"}
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
        rest["genes"] = gene_lengths(node.genes, node.code) or db.put_text(json.dumps(rest["genes"]), "genes")
    if rest.get("parent_id") == next(iter(node.parent_ids), None):
        rest.pop("parent_id", None)
    code_hash = text_hash(node.code)
    return {
        **values,
        "code": db.put_text(node.code, PROGRAM),
        "code_hash": code_hash,
        "term_out": db.put_text(node.term_out, OUTPUT),
        "rest": _folded(rest, code_hash),
    }


def node_from_row(db: Database, row: Mapping[Any, Any], *, texts: bool = True) -> Node:
    """The node as committed. With `texts` False, code and output stay out (''), for lists."""
    values = {name: row[name] for name in _COLUMNS}
    values["code"] = db.get_text(row["code"]) if texts else ""
    values["term_out"] = db.get_text(row["term_out"]) if texts else ""
    rest = _unfolded(row["rest"], row["code_hash"])
    rest.setdefault("parent_id", next(iter(values["parent_ids"]), None))
    if "genes" in rest:
        rest["genes"] = _genes(db, values["code"], rest["genes"]) if texts else {}
    return Node.model_validate({**values, **rest})


def _folded(rest: Mapping[str, Any], code_hash: str) -> dict[str, Any]:
    """The fields that SQL asks, as they are, and all others packed: a text in base 85, as JSON has no bytes."""
    shown = {name: value for name, value in rest.items() if name in _SHOWN}
    more = {name: value for name, value in rest.items() if name not in _SHOWN}
    text, _, tree = more.get("fingerprint", "").partition(":")
    if code_hash.startswith(text) and _DIGEST.fullmatch(tree):  # 64 digits that are as many half bytes
        more["fingerprint"] = [len(text), b85encode(bytes.fromhex(tree)).decode()]
    return {**shown, "packed": b85encode(pack_json(json.dumps(more, separators=(",", ":")))).decode()}


def _unfolded(stored: Mapping[str, Any], code_hash: str) -> dict[str, Any]:
    """All fields again; before schema 4 none was packed."""
    rest = dict(stored)
    if "packed" in rest:
        rest |= json_of(b85decode(rest.pop("packed")))
        known = rest.get("fingerprint")
        if isinstance(known, list):
            rest["fingerprint"] = f"{code_hash[: known[0]]}:{b85decode(known[1]).hex()}"
    return rest


def _genes(db: Database, code: str, stored: str | list[tuple[str, int]]) -> dict[str, str]:
    """The sections of a program, from their lengths, or from a text that holds them all."""
    return dict(json.loads(db.get_text(stored))) if isinstance(stored, str) else cut_genes(code, stored)


def journal_line(row: Mapping[Any, Any], code: str) -> bytes:
    """What a node's row adds to `journal_sha256`."""
    fields = {name: row[name] for name in ("id", "parent_ids", "operator", "metric_value", "failure", "is_valid")}
    signature = _unfolded(row["rest"], row["code_hash"]).get("signature", [])
    return digest_line({**fields, "code": code, "signature": signature})


def task_values(db: Database, task: Task, why: Mapping[str, Any]) -> dict[str, Any]:
    """Column values of a task, and of what the policy said of its choice."""
    columns = {name: getattr(task, name) for name in _TASK_COLUMNS}
    own = task.model_dump(mode="json", exclude=_TASK_COLUMNS)
    return {**columns, "task": own, "why": db.put_beside(json.dumps(why), "why")}


def task_from_row(row: Mapping[Any, Any]) -> Task:
    """The task as it was proposed."""
    return Task.model_validate({**{name: row[name] for name in _TASK_COLUMNS}, **row["task"]})


def why_of(db: Database, stored: Stored | None) -> dict[str, Any]:
    """What the policy said of its choice; {} for what it did not propose."""
    return {} if stored is None else dict(json.loads(db.text_of(stored)) or {})


def event_values(event: Event) -> dict[str, Any]:
    """Column values of an event: `body` is the event as JSON without `seq` and `at`."""
    told = event.model_dump_json(exclude=_OWN_COLUMNS)
    is_packed = event.type in _OF_EVERY_NODE
    return {
        "seq": event.seq,
        "type": event.type,
        "node_id": getattr(event, "node_id", None),
        "at": microseconds(event.at) if is_packed else event.at,
        "body": pack_json(told) if is_packed else told,
    }


def call_from_row(db: Database, row: Mapping[Any, Any]) -> CallRecord:
    """The call as it was stored, its messages put together again."""
    values = {name: row[name] for name in CallRecord.model_fields}
    for name in _MESSAGES:
        values[name] = db.get_parts(row[name])
    return CallRecord.model_validate(values)


def event_from_row(row: Mapping[Any, Any]) -> Event:
    """The event with its place in the sequence and its time."""
    event = EVENT_ADAPTER.validate_json(json_text(row["body"]))
    return event.model_copy(update={"seq": row["seq"], "at": row["at"]})
