"""The column `body` of an event: its JSON, without what other columns of its row hold."""

from __future__ import annotations

import json
from typing import Any

from core.events import Event
from core.storage.packing import ROW, Stored, json_text, pack_json

_OF_EVERY_NODE = {"round.opened", "node.proposed", "llm.called", "node.stage", "node.committed"}
"""Events whose JSON is packed. That of the others is text, so that SQL can ask it."""
_OWN_COLUMNS = {"seq", "at"}
_TOLD_BY_ROW = {*_OWN_COLUMNS, "node_id"}


def is_packed(event: Event) -> bool:
    """True where a node or a round has its own event of that type: most of a store's."""
    return event.type in _OF_EVERY_NODE


def body_of(event: Event) -> Stored:
    """The event as its row holds it."""
    if is_packed(event):
        of_a_node = vars(event).get("node_id") is not None
        packed = pack_json(event.model_dump_json(exclude=_TOLD_BY_ROW if of_a_node else _OWN_COLUMNS))
        if isinstance(packed, bytes):
            return packed
    return event.model_dump_json(exclude=_OWN_COLUMNS)


def event_text(body: Stored, node_id: str | None) -> str:
    """The event's JSON without `seq` and `at`, with the node that its row names; that of an older version named it."""
    text = json_text(body)
    return f'{{"node_id":{json.dumps(node_id)},{text[1:]}' if body[:1] == ROW and node_id is not None else text


def event_fields(body: Stored, node_id: str | None) -> dict[str, Any]:
    """The same as plain values."""
    fields: dict[str, Any] = json.loads(event_text(body, node_id))
    return fields
