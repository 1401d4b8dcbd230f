"""What the store says of a run that broke off."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.events import RunFinished
from core.state.journal import Journal
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from core.storage.rows import BROKE_OFF
from reports.conclusion import conclusion_of, why_ended
from runs.ending import record_failure
from utils.errors import BackendError, StoreError

FULL = "store 'run.db': database or disk is full"


def broken(tmp_path: Path, error: Exception) -> None:
    store = RunStore(tmp_path)
    search: Any = SimpleNamespace(store=store, journal=Journal())
    record_failure(search, lambda: None, error, 1.0)
    store.close()


def no_room(self: RunStore, events: Any) -> None:
    raise StoreError(FULL)


def test_a_disk_with_room_for_no_event_leaves_the_reason_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    broken(tmp_path, BackendError("a refused key"))
    monkeypatch.setattr(RunStore, "append", no_room)
    broken(tmp_path, StoreError(FULL))
    with RunReader(tmp_path) as reader:
        assert [event.reason for event in reader.events() if isinstance(event, RunFinished)] == ["a refused key"]
        assert why_ended(reader) == FULL, "not why it broke off the time before"
        assert f"The run failed after 0 steps: {FULL}." in conclusion_of(reader).verdict.text


def test_a_run_that_was_taken_up_again_no_longer_says_why_it_broke_off(tmp_path: Path):
    broken(tmp_path, StoreError(FULL))
    store = RunStore(tmp_path)
    store.put_facts({"status": "running", BROKE_OFF: ""})
    store.append([RunFinished(status="finished", reason="max_steps: 3 of 3 steps")])
    store.close()
    with RunReader(tmp_path) as reader:
        assert why_ended(reader) == "max_steps: 3 of 3 steps"
