"""The column `body` of an event: what it leaves to its row comes back, as does what older versions wrote."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.events import Event, LLMCalled, NodeMarked, RoundOpened, StageDone, Warned
from core.storage.event_body import body_of, event_fields, is_packed
from core.storage.packing import JSON, JSON_DICTIONARY, ROW, _deflated, json_text
from core.storage.rows import event_from_row, event_values

AT = datetime(2026, 11, 28, tzinfo=UTC)
EVENTS: list[Event] = [
    StageDone(seq=1, at=AT, node_id='"n1"', stage="execute", seconds=0.5),
    LLMCalled(seq=2, at=AT, call_id=1, node_id=None, role="code", provider="p", model="m", seconds=0.0, tries=1),
    RoundOpened(seq=3, at=AT, round=1, node_ids=["n1", "n2"]),
    NodeMarked(seq=4, at=AT, node_id="n1", mark="pinned"),
    Warned(seq=5, at=AT, text="{x}"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.type)
def test_an_event_comes_back_and_its_row_names_its_node_once(event):
    row = event_values(event)
    assert event_from_row({**row, "at": AT}) == event
    body = row["body"]
    assert (body[:1] == ROW) is is_packed(event)
    assert event_fields(body, row["node_id"]) == event.model_dump(mode="json", exclude={"seq", "at"})
    if is_packed(event) and row["node_id"]:
        assert "n1" not in json_text(body)


@pytest.mark.parametrize("event", EVENTS[:3], ids=lambda event: event.type)
def test_an_event_of_before_schema_10_comes_back(event):
    """It names its node itself, packed with the other dictionary."""
    text = event.model_dump_json(exclude={"seq", "at"})
    older = JSON + _deflated(text.encode(), JSON_DICTIONARY)
    assert event_from_row({**event_values(event), "body": older, "at": AT}) == event
    assert event_fields(older, getattr(event, "node_id", None)) == event.model_dump(mode="json", exclude={"seq", "at"})


def test_what_would_unpack_to_too_much_names_its_node_itself(monkeypatch):
    monkeypatch.setattr("core.storage.packing.JSON_BYTES", 10)
    monkeypatch.setattr("core.storage.packing.JSON_SHARE", 0)
    body = body_of(EVENTS[0])
    assert isinstance(body, str) and event_fields(body, '"n1"')["node_id"] == '"n1"'
