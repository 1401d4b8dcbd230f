"""A run of an older version: read as it lies, brought along when it is resumed, the same journal in both."""

from __future__ import annotations

import resource
import sqlite3
import zlib
from pathlib import Path

import pytest
from support.loop import open_loop

from core.contracts import Evaluation
from core.storage import migrations, packing
from core.storage.begun import begun_steps
from core.storage.database import DB_NAME
from core.storage.migrations import SCHEMA_VERSION
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from core.storage.store_check import check_store
from core.storage.ticket_store import stored_tickets
from utils.errors import BrokenStoreError, StoreError

GOLDEN = Path(__file__).parents[3] / "golden"
SHA256 = "40c62b9f9c2a47c546e8f43f970e963dadef8a611b47d83e0bc0e1713a659219"
"""Of the journal of `store-schema-1.sql`, as the version that wrote it told it."""
SHA256_OF_3 = "c0d8950b199cd9ba72dfee4c4450fe8f3d82c94cbdb801ef641c1e52bcd0d7d3"
HEAD_OF_3 = "b5d8747b196cce513657458999b831f60cd5e95bd304ab3008b7a31eeecc3943"
"""Of `store-schema-3.sql`: five nodes of a search, and a task whose program has run."""


@pytest.fixture
def old(tmp_path):
    """The folder of a run as schema 1 left it: a toy search, a node of each kind of problem, an open task."""
    return written(tmp_path, "store-schema-1.sql")


@pytest.fixture
def of_3(tmp_path):
    """The folder of a run as schema 3 left it: texts and rows as they are, links as JSON."""
    return written(tmp_path, "store-schema-3.sql")


def written(folder: Path, golden: str) -> Path:
    with sqlite3.connect(folder / DB_NAME) as connection:
        connection.executescript((GOLDEN / golden).read_text(encoding="utf-8"))
        connection.execute("PRAGMA journal_mode=WAL")
    connection.close()
    return folder


def check(reader: RunReader) -> None:
    assert reader.journal().sha256 == SHA256
    refused = [node for node in reader.nodes() if node.refused_by]
    assert refused and all(node.refused_by == "check" and node.message and node.failure for node in refused)
    repaired = [node for node in reader.nodes() if node.refusal]
    assert {node.parent_id for node in repaired} <= {node.id for node in refused} and repaired
    assert all(node.stages and node.fingerprint for node in reader.nodes() if node.operator == "draft")
    rejected = reader.events(types=["candidate.rejected"])
    assert {event.node_id for event in rejected} == {node.id for node in refused}
    assert {event.refused_by for event in rejected} == {"check"}
    engine, cascade, script = (reader.node(name) for name in ("engine000001", "cascade00001", "script000001"))
    assert engine.tournament.promoted == ("engine000001",) and engine.name == "g1.0" and engine.interval == (1.0, 2.0)
    assert engine.metadata == {"category": "search"} and engine.message == "1 won"
    assert (cascade.rung, cascade.behaviour, cascade.cheap_score) == ("full", "ab", 0.0)
    assert cascade.metadata == {"tune": {"trials": 3}}
    assert script.unisolated_reason == "it wants shared objects" and script.review.lower_is_better is False
    assert (script.prompt_tokens, script.completion_tokens, script.cost_usd) == (0, 5, 0.0)
    assert script.review.summary == script.analysis == "fine" and script.metadata == {}
    assert reader.tasks()["open00000001"].repairs == 2 and reader.why("open00000001") == {"rule": "r"}


def test_a_reader_shows_it_and_leaves_the_file_as_it_is(old):
    before = (old / DB_NAME).read_bytes()
    with RunReader(old) as reader:
        check(reader)
    with pytest.raises(StoreError, match=r"read-?only"), RunReader(old) as reader:
        with reader.db.transaction() as connection:
            connection.execute("DELETE FROM facts")
    assert (old / DB_NAME).read_bytes() == before


def test_a_report_on_a_run_from_before_there_were_tickets(old):
    """`report`, the page's resume and MCP's status ended with `no such table: tickets`."""
    with RunReader(old) as reader:
        assert stored_tickets(reader.db) == [] and begun_steps(reader).done == reader.steps()


def test_a_resumed_run_is_brought_along_for_good(old):
    store = RunStore(old)
    verdict = Evaluation.model_validate(store.stages("open00000001")["execute"])
    assert (verdict.metric, verdict.rung, verdict.cheap_score) == (3.0, "cheap", 2.0)
    assert verdict.duplicate_of == "a" and verdict.metadata == {"own": 1}
    assert [task.repairs for task in store.open_tasks() if task.node_id == "open00000001"] == [2]
    store.close()
    with sqlite3.connect(old / DB_NAME) as plain:
        assert plain.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert plain.execute("SELECT code FROM candidates WHERE id = 'engine000001'").fetchone() == (
            "print('engine000001')\n",
        )
        assert plain.execute("SELECT name, elo, low, high FROM engines WHERE name != ''").fetchall() == [
            ("g1.0", 1.5, 1.0, 2.0)
        ]
    plain.close()
    with RunReader(old) as reader:
        check(reader)


def test_a_full_disk_is_not_held_against_an_older_run(old):
    """It was said that no transaction is active, or that the store cannot be read: nobody would look for room."""
    before, whole = resource.getrlimit(resource.RLIMIT_FSIZE), (old / DB_NAME).read_bytes()
    resource.setrlimit(resource.RLIMIT_FSIZE, (33_000, before[1]))  # the index of the log fits, not the log
    try:
        with pytest.raises(StoreError, match=r"disk is full|disk I/O error") as raised:
            RunStore(old)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not isinstance(raised.value, BrokenStoreError)
    assert (old / DB_NAME).read_bytes() == whole
    RunStore(old).close()


def test_an_older_run_has_no_chain_until_it_is_brought_along(old):
    check_old = check_store(old)
    assert (check_old.schema, check_old.chain.links) == (1, 0)
    with RunReader(old) as reader:
        assert reader.journal_head() is None
    RunStore(old).close()
    found = check_store(old)
    assert found.findings == check_old.findings, "every row is in the first link"
    assert {one.what for one in found.findings} == {"no event tells of its verdict"}, "three nodes were made by hand"
    assert (found.chained_from, found.chain.links) == ([{"schema": 1, "link": 1}], 1)
    with RunReader(old) as reader:
        assert reader.journal_head() == found.chain.head


def test_a_file_that_cannot_be_brought_along_stays_as_it_is(old):
    with sqlite3.connect(old / DB_NAME) as connection:
        connection.execute("UPDATE nodes SET rest = 'no json' WHERE step = 3")
    connection.close()
    before = (old / DB_NAME).read_bytes()
    for opened in (RunStore, RunReader):
        with pytest.raises(StoreError, match=rf"run.db' has schema 1 and cannot be read as {SCHEMA_VERSION}"):
            opened(old)
    assert (old / DB_NAME).read_bytes() == before


def test_a_run_of_schema_3_is_read_in_place(of_3):
    before = (of_3 / DB_NAME).read_bytes()
    with RunReader(of_3) as reader:
        assert (reader.journal().sha256, reader.journal_head()) == (SHA256_OF_3, HEAD_OF_3)
        assert [event.seq for event in reader.events()] == list(range(1, reader.last_seq() + 1))
        assert len(reader.tasks()) == 6 and reader.why("open00000001") == {"rule": "r"}
        for node in reader.nodes(texts=True):
            (call,) = reader.calls(node.id)
            assert node.code.strip() in call.reply and call.user and node.genes
    found = check_store(of_3)
    assert (found.schema, found.chain.head) == (3, HEAD_OF_3)
    assert {one.what for one in found.findings} == set()
    assert (of_3 / DB_NAME).read_bytes() == before


def test_a_run_of_schema_3_goes_on_in_the_new_form(of_3):
    with RunReader(of_3) as reader:
        known = {node.id: node for node in reader.nodes(texts=True)}
    loop = open_loop(of_3, steps=9)
    loop.run()
    with sqlite3.connect(of_3 / DB_NAME) as plain:
        assert plain.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        forms = {kind for (kind,) in plain.execute("SELECT DISTINCT typeof(records) FROM chain")}
    plain.close()
    assert forms == {"text", "blob"}
    found = check_store(of_3)
    assert found.findings == [] and HEAD_OF_3 in found.chain.heads and found.chained_from == []
    with RunReader(of_3) as reader:
        nodes = reader.nodes(texts=True)
        assert len(nodes) == 9 and {node.id: node for node in nodes if node.id in known} == known
        assert len({call.reply for call in reader.calls()}) > 5


def test_programs_that_would_fill_the_memory_are_refused(old, monkeypatch):
    """A megabyte and a half of a stranger's store was unpacked to 1.5 GB."""
    monkeypatch.setattr(packing, "MOST_BYTES", 10**6)
    with sqlite3.connect(old / DB_NAME) as connection:
        connection.execute("UPDATE texts SET body = ?", (zlib.compress(b"0" * (10**6 + 1)),))
    connection.close()
    with pytest.raises(StoreError, match="cut off, or longer than"):
        RunReader(old)


def test_many_programs_that_would_fill_it_together_are_refused(old, monkeypatch):
    monkeypatch.setattr(migrations, "MOST_BYTES", 10**6)
    with sqlite3.connect(old / DB_NAME) as connection:
        connection.execute("UPDATE texts SET body = ?", (zlib.compress(b"0" * 10**6),))
    connection.close()
    with pytest.raises(StoreError, match="its programs are longer than"):
        RunReader(old)
