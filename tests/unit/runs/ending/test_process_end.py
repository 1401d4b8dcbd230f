"""What the store says of a run that broke off."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.events import RunFinished
from core.state.journal import Journal
from core.state.task import Task
from core.storage.database import DB_NAME
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from core.storage.rows import BROKE_OFF
from reports.conclusion import conclusion_of, why_ended
from runs.beside.reserve import NAME, SIZE, reserved
from runs.ending.process_end import record_end, record_failure
from utils.errors import BackendError, LockedStoreError, StoreError

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


@pytest.mark.parametrize("stays", ["", "what waits"])
def test_what_was_reserved_makes_room_for_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stays: str):
    """And where what waits for the next transaction takes that as well, it goes: a kill would have taken it too."""
    store = RunStore(tmp_path, delay=3600.0)
    usual = RunStore._put_facts

    def full(self: RunStore, values: Any) -> None:
        if (tmp_path / NAME).exists() or "waits" in values:
            raise StoreError(FULL)
        usual(self, values)

    monkeypatch.setattr(RunStore, "_put_facts", full)
    if stays:
        store.put_fact("waits", 1, can_be_made_again=True)
    with reserved(tmp_path):
        assert (tmp_path / NAME).stat().st_blocks * 512 >= SIZE, "only what is taken can be given back"
        search: Any = SimpleNamespace(store=store, journal=Journal())
        record_failure(search, lambda: None, StoreError(FULL), 1.0)
    store.close()
    with RunReader(tmp_path) as reader:
        assert (reader.fact("status"), why_ended(reader), reader.fact("waits")) == ("failed", FULL, None)


def test_the_end_is_told_to_all_where_one_sink_still_cannot_hear(tmp_path: Path):
    """What made the run break off met its end as well: the end was no event, and neither log nor page told why."""

    def full(event: Any) -> None:
        raise OSError(28, "No space left on device")

    heard: list[Any] = []
    store = RunStore(tmp_path, delay=3600.0)
    store.sinks = [SimpleNamespace(emit=full), SimpleNamespace(emit=heard.append)]
    store.open_round([Task(node_id="n", operator="draft", round=0, slot=0, seed=1)], [{}])  # is told with the end
    search: Any = SimpleNamespace(store=store, journal=Journal())
    record_failure(search, lambda: None, OSError(28, "No space left on device"), 1.0)
    store.sinks = []
    store.close()
    assert [event.type for event in heard] == ["node.proposed", "run.finished"]


@pytest.mark.parametrize("status", ["finished", "interrupted"])
def test_a_run_ends_in_one_transaction(tmp_path: Path, status: Any):
    """Killed between two of them it was finished, and nobody was told that it had ended, nor why."""
    store = RunStore(tmp_path)
    links = store.db.value("SELECT count(*) FROM chain")
    search: Any = SimpleNamespace(store=store, journal=Journal())
    record_end(search, status, "max_steps: 3 of 3 steps", None)
    assert store.db.value("SELECT count(*) FROM chain") == links + 1
    store.close()
    with RunReader(tmp_path) as reader:
        assert (reader.fact("status"), why_ended(reader)) == (status, "max_steps: 3 of 3 steps")


def test_of_a_locked_store_only_the_first_write_waits_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The end of a run that broke off by it has three things to say, and room is not what lacks."""
    monkeypatch.setattr("core.storage.connection.BUSY_SECONDS", 2.0)
    store = RunStore(tmp_path, delay=3600.0)
    tried: list[Any] = []
    usual = RunStore.put_facts
    monkeypatch.setattr(RunStore, "put_facts", lambda self, values: tried.append(values) or usual(self, values))
    with closing(sqlite3.connect(tmp_path / DB_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LockedStoreError, match="locked") as locked:
            store.put_fact("waited for", 1)
        assert store.db.select("PRAGMA busy_timeout") == [(1000,)]
        store.put_fact("made again", 1, can_be_made_again=True)
        search: Any = SimpleNamespace(store=store, journal=Journal())
        with reserved(tmp_path):
            record_failure(search, lambda: None, locked.value, 1.0)
            assert len(tried) == 1 and (tmp_path / NAME).exists()
        other.execute("ROLLBACK")
    store.put_fact("later", 1)
    assert store.db.select("PRAGMA busy_timeout") == [(2000,)]
    store.close()
    with RunReader(tmp_path) as reader:
        assert {key for key in ("waited for", "made again", "later") if reader.fact(key)} == {"later"}


def test_nothing_is_reserved_through_a_link_or_on_a_disk_that_has_no_room(tmp_path: Path, monkeypatch):
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / NAME).symlink_to(tmp_path / "theirs")
    with reserved(tmp_path):
        assert not (tmp_path / NAME).is_symlink()
    assert (tmp_path / "theirs").read_text() == "theirs" and not (tmp_path / NAME).exists()

    def no_room(*what: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", no_room)
    with reserved(tmp_path):
        pass
    assert not (tmp_path / NAME).exists()


def test_a_run_that_was_taken_up_again_no_longer_says_why_it_broke_off(tmp_path: Path):
    broken(tmp_path, StoreError(FULL))
    store = RunStore(tmp_path)
    store.put_facts({"status": "running", BROKE_OFF: ""})
    store.append([RunFinished(status="finished", reason="max_steps: 3 of 3 steps")])
    store.close()
    with RunReader(tmp_path) as reader:
        assert why_ended(reader) == "max_steps: 3 of 3 steps"
