"""Between rows and the objects of floor 1 and 2."""

from __future__ import annotations

import json
import re
from base64 import b85decode, b85encode
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping, Sequence
from typing import Any

from core.contracts import CallRecord
from core.events import EVENT_ADAPTER, Event
from core.state.failure import FailureKind
from core.state.fingerprint import text_hash
from core.state.identity import PLAIN
from core.state.journal_digest import digest_line
from core.state.node import Node
from core.state.stored_node import Read, StoredNode
from core.state.task import Task
from core.storage.database import Database
from core.storage.event_body import body_of, event_text, is_packed
from core.storage.message_parts import OUTPUT, PROGRAM
from core.storage.moments import microseconds
from core.storage.packing import json_of, pack_json
from utils.errors import BrokenStoreError
from utils.genes import cut_genes, gene_lengths

_COLUMNS = (
    "id", "step", "operator", "generation", "island", "slot", "metric_value", "fitness", "metric_source",
    "claimed_metric", "is_buggy", "is_valid", "failure", "exec_time", "ctime", "writer", "parent_ids",
)  # fmt: skip
_TEXTS = ("code", "term_out")
BROKE_OFF = "broke_off"
"""Fact: why a process broke off its work on the run; '' from the moment that another takes it up."""
JOURNAL = "journal"
"""Fact: `{nodes, sha256}`, the journal's hash over so many nodes."""
BESIDE = "beside/"
"""Begins the fact that holds a baseline beside the search whole, as a node; its id follows."""
_MESSAGES = ("system", "user", "reply")
_SHOWN = {
    "message", "duplicate_of", "nothing_left", "name", "plan", "interval", "prompt_tokens", "completion_tokens",
    "cost_usd", "metadata", "attempts", "behaviour", "cheap_score", "parent_id",
}  # fmt: skip
"""Fields in `rest` that views, queries and a resume ask of every node."""
_TREE, _MORE, _PACKED = "tree", "more", "packed"
"""Keys in `rest`: the syntax tree's hash of the fingerprint, all other fields, and in schema 4 all with that hash."""
_DIGEST = re.compile("[0-9a-f]{64}")
_LINES = (",\n", ": ")
"""Between what JSON lists, where each entry is to have a line of its own."""
_TEXT_DIGITS = 16
"""Digits of the text's hash in a fingerprint."""
_TASK_COLUMNS = {"node_id", "round", "slot", "attempt"}
_INDEXED = ("children_ids", "visits", "total_reward")
"""Kept by the Journal, never stored: they follow from the nodes."""
_IN_COLUMNS = set(_COLUMNS)
_read_json = json.JSONDecoder().raw_decode
"""What `json.loads` comes to, without the checks that cost more than the short texts of a row."""
OUTLINE = f"SELECT {', '.join(_COLUMNS)}, code_hash, code != '', rest FROM nodes WHERE step > ? ORDER BY step LIMIT ?"
"""Rows for `stored_node`, as they lie: in a long run they are many."""
_NOT_IN_REST = {*_COLUMNS, *_TEXTS, *_INDEXED}


def call_values(db: Database, record: CallRecord) -> dict[str, Any]:
    """Column values of a call; its messages and its reply are stored on the way."""
    values = record.model_dump()
    for name in _MESSAGES:
        values[name] = db.texts.put_parts(values[name], f"names {name} {record.role}")
    return values


def node_values(db: Database, node: Node) -> dict[str, Any]:
    """Column values of a node; texts are stored on the way."""
    values = node.model_dump(mode="json", include=_IN_COLUMNS)
    rest = node.model_dump(mode="json", exclude=_NOT_IN_REST, exclude_defaults=True)
    if "genes" in rest:
        rest["genes"] = gene_lengths(node.genes, node.code) or db.texts.put(json.dumps(rest["genes"]), "genes")
    if rest.get("parent_id") == next(iter(node.parent_ids), None):
        rest.pop("parent_id", None)
    code_hash = text_hash(node.code)
    return {
        **values,
        "code": db.texts.put(node.code, PROGRAM),
        "code_hash": code_hash,
        "term_out": db.texts.put(node.term_out, OUTPUT),
        "rest": _folded(rest, code_hash),
    }


def node_from_row(db: Database, row: Mapping[Any, Any], *, texts: bool = True) -> Node:
    """The node as committed. With `texts` False, code and output stay out (''), for lists."""
    values = {name: row[name] for name in _COLUMNS}
    values["code"] = db.texts.get(row["code"]) if texts else ""
    values["term_out"] = db.texts.get(row["term_out"]) if texts else ""
    rest = _unfolded(row["rest"], row["code_hash"])
    rest.setdefault("parent_id", next(iter(values["parent_ids"]), None))
    if "genes" in rest:
        rest["genes"] = _genes(db, values["code"], rest["genes"]) if texts else {}
    return Node.model_validate({**values, **rest})


def stored_node(db: Database, row: Sequence[Any], read: Read) -> StoredNode:
    """The node as `node_from_row` gives it, for a row of `OUTLINE`; what is not asked of every node stays packed."""
    (
        node_id, step, operator, generation, island, slot, metric_value, fitness, metric_source, claimed_metric,
        is_buggy, is_valid, failure, exec_time, ctime, writer, parents, code_hash, has_code, stored,
    ) = row  # fmt: skip
    if PLAIN.fullmatch(node_id) is None:
        raise BrokenStoreError(f"store '{db.path}': {node_id[:100]!r} is the id of no node")
    shown = _read_json(stored)[0]
    if _PACKED in shown or "attempts" in shown:
        shown = {**shown, **_unpacked_at_once(shown, code_hash)}
    elif _TREE in shown:
        shown["fingerprint"] = _fingerprint(shown.pop(_TREE), code_hash)
    parent_ids = () if parents == "[]" else tuple(_read_json(parents)[0])
    interval, get = shown.get("interval"), shown.get
    own = {
        "id": node_id, "step": step, "operator": operator, "generation": generation, "island": island, "slot": slot,
        "metric_value": metric_value, "fitness": fitness, "metric_source": metric_source,
        "claimed_metric": claimed_metric, "is_buggy": bool(is_buggy), "is_valid": bool(is_valid),
        "failure": None if failure is None else FailureKind(failure), "exec_time": exec_time, "ctime": ctime,
        "writer": writer, "parent_ids": parent_ids,
        "parent_id": get("parent_id", parent_ids[0] if parent_ids else None),
        "fingerprint": get("fingerprint", ""), "duplicate_of": get("duplicate_of"),
        "nothing_left": get("nothing_left", False),
        "prompt_tokens": get("prompt_tokens"), "completion_tokens": get("completion_tokens"),
        "cost_usd": get("cost_usd"), "attempts": get("attempts", ()),
        "interval": None if interval is None else tuple(interval), "behaviour": get("behaviour", ""),
        "cheap_score": get("cheap_score"), "lower_is_better": get("lower_is_better", False),
    }  # fmt: skip
    rest = RestOfRow(db, stored, code_hash)
    return StoredNode.from_store(own, code_hash if has_code else "", read, rest)


class RestOfRow:
    """The fields of a node that its row holds packed."""

    __slots__ = ("_code_hash", "_db", "_stored")

    def __init__(self, db: Database, stored: str, code_hash: str) -> None:
        self._db, self._stored, self._code_hash = db, stored, code_hash

    def __call__(self) -> tuple[dict[str, Any], tuple[tuple[str, int], ...]]:
        """(field → value, names and lengths of the program's sections where they are the program cut up)."""
        rest = _unfolded(json.loads(self._stored), self._code_hash)
        genes = rest.pop("genes", {})
        if isinstance(genes, str):
            rest["genes"] = json.loads(self._db.texts.get(genes))
            genes = {}
        return _checked(rest), tuple((name, length) for name, length in genes)


def _checked(rest: Mapping[str, Any]) -> dict[str, Any]:
    """Fields from JSON as a node has them. ValidationError for what no node has."""
    node = Node.model_validate({"id": "", "ctime": 0.0, "code": "", **rest})
    return {name: getattr(node, name) for name in rest}


def _unpacked_at_once(shown: Mapping[str, Any], code_hash: str) -> dict[str, Any]:
    """What is at hand of a row that holds it in another form: one of before schema 5, one of a repaired program."""
    rest = _unfolded(shown, code_hash)
    return _checked({name: rest[name] for name in (*_AT_ONCE, *_SHOWN) if name in rest})


_AT_ONCE = ("fingerprint", "lower_is_better")


def _folded(rest: Mapping[str, Any], code_hash: str) -> dict[str, Any]:
    """The fields that are asked of every node, as they are, and all others packed: a text in base 85, as JSON has no
    bytes. Those that cannot be packed stay as they are, as before schema 4."""
    shown = {name: value for name, value in rest.items() if name in _SHOWN}
    more = {name: value for name, value in rest.items() if name not in _SHOWN}
    text, _, tree = more.get("fingerprint", "").partition(":")
    if len(text) == _TEXT_DIGITS and code_hash.startswith(text) and _DIGEST.fullmatch(tree):
        del more["fingerprint"]
        shown[_TREE] = b2a_base64(bytes.fromhex(tree), newline=False).decode()
    small = pack_json(json.dumps(more, separators=(",", ":")))
    return dict(rest) if isinstance(small, str) else {**shown, _MORE: b85encode(small).decode()}


def _unfolded(stored: Mapping[str, Any], code_hash: str) -> dict[str, Any]:
    """All fields again; before schema 4 none was packed."""
    rest = dict(stored)
    if _MORE in rest:
        rest |= json_of(b85decode(rest.pop(_MORE)))
        if _TREE in rest:
            rest["fingerprint"] = _fingerprint(rest.pop(_TREE), code_hash)
    elif _PACKED in rest:
        rest |= json_of(b85decode(rest.pop(_PACKED)))
        known = rest.get("fingerprint")
        if isinstance(known, list):
            rest["fingerprint"] = f"{code_hash[: known[0]]}:{b85decode(known[1]).hex()}"
    return rest


def _fingerprint(tree: str, code_hash: str) -> str:
    return f"{code_hash[:_TEXT_DIGITS]}:{a2b_base64(tree).hex()}"


def _genes(db: Database, code: str, stored: str | list[tuple[str, int]]) -> dict[str, str]:
    """The sections of a program, from their lengths, or from a text that holds them all."""
    return dict(json.loads(db.texts.get(stored))) if isinstance(stored, str) else cut_genes(code, stored)


def journal_line(row: Mapping[Any, Any], code: str) -> bytes:
    """What a node's row adds to `journal_sha256`."""
    fields = {name: row[name] for name in ("id", "parent_ids", "operator", "metric_value", "failure", "is_valid")}
    signature = _unfolded(row["rest"], row["code_hash"]).get("signature", [])
    return digest_line({**fields, "code": code, "signature": signature})


def task_values(db: Database, task: Task, why: Mapping[str, Any]) -> dict[str, Any]:
    """Column values of a task, and of what the policy said of its choice."""
    columns = {name: getattr(task, name) for name in _TASK_COLUMNS}
    own = task.model_dump(mode="json", exclude=_TASK_COLUMNS)
    like = f"why {task.island}"  # an island's candidates are mostly those that it had before, a line each
    return {**columns, "task": own, "why": db.texts.put_beside(json.dumps(why, separators=_LINES), like)}


def task_from_row(row: Mapping[Any, Any]) -> Task:
    """The task as it was proposed."""
    return Task.model_validate({**{name: row[name] for name in _TASK_COLUMNS}, **row["task"]})


def stored_why(db: Database, node_id: str) -> dict[str, Any]:
    """What the policy said of its choice; {} for what it did not propose."""
    stored = db.value("SELECT why FROM tasks WHERE node_id = ?", (node_id,))
    return {} if stored is None else dict(json.loads(db.texts.text_of(stored)) or {})


def event_values(event: Event) -> dict[str, Any]:
    """Column values of an event; `body` is what no other column holds of it."""
    return {
        "seq": event.seq,
        "type": event.type,
        "node_id": vars(event).get("node_id"),  # pydantic takes its time to say that a model has no such attribute
        "at": microseconds(event.at) if is_packed(event) else event.at,
        "body": body_of(event),
    }


def call_from_row(db: Database, row: Mapping[Any, Any]) -> CallRecord:
    """The call as it was stored, its messages put together again."""
    values = {name: row[name] for name in CallRecord.model_fields}
    for name in _MESSAGES:
        values[name] = db.texts.get_parts(row[name])
    return CallRecord.model_validate(values)


def stored_calls(db: Database, node_id: str | None = None) -> list[CallRecord]:
    """Calls of a store, for its writer and for readers."""
    where, values = ("", ()) if node_id is None else ("WHERE node_id = ?", (node_id,))
    return [call_from_row(db, row) for row in db.rows(f"SELECT * FROM calls {where} ORDER BY id", values)]


def event_from_row(row: Mapping[Any, Any]) -> Event:
    """The event with its place in the sequence and its time."""
    event = EVENT_ADAPTER.validate_json(event_text(row["body"], row["node_id"]))
    return event.model_copy(update={"seq": row["seq"], "at": row["at"]})
