"""The chain of a store: every write is in a link, whoever writes and however it ends."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.synthetic_runs import write_all

from core.events import NoteAdded
from core.state.journal import Journal
from core.state.node import Node
from core.storage.chain import chained_tables, row_hashes
from core.storage.chain_links import CHAIN, links_of
from core.storage.database import DB_NAME
from core.storage.models import TABLES
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from core.storage.store_check import check_store
from utils.errors import StoreError


def links(run_dir: Path) -> list[list[list[str]]]:
    """The records of each link."""
    with closing(sqlite3.connect(run_dir / DB_NAME)) as db:
        return [json.loads(records) for _, records, _ in links_of(db, row_hashes(db))]


def test_a_transaction_is_one_link_and_an_empty_one_is_none(tmp_path):
    store = RunStore(tmp_path)
    store.append([])
    assert store.journal_head == ""
    store.put_facts({"a": 1, "b": 2}, [NoteAdded(text="x")])
    first = store.journal_head
    store.commit([Node(id="n", code="x = 1\n")], [])
    assert first != store.journal_head
    store.close()
    tables = [[(table, key) for table, key, _ in link] for link in links(tmp_path)]
    assert tables[0] == [("facts", "a"), ("facts", "b"), ("events", "1")]
    assert [table for table, _ in tables[1]] == ["nodes", "texts"]
    assert [one.what for one in check_store(tmp_path).findings] == ["no event tells of its verdict"]


def test_every_table_is_chained_and_so_is_every_column(tmp_path):
    """Whatever a statement of this connection does to any table is in a link: also one that nobody wrote yet."""
    store = RunStore(tmp_path)
    for name in TABLES:
        if name == CHAIN:
            continue
        columns, key = chained_tables(store.db._connection)[name]
        with store.db.transaction() as connection:
            names = ", ".join(f'"{column}"' for column in columns)
            values = ", ".join("7" for _ in columns)
            connection.execute(f'INSERT INTO "{name}" ({names}) VALUES ({values})')
        for column in columns:
            with store.db.transaction() as connection:
                connection.execute(f'UPDATE "{name}" SET "{column}" = 8')
        with store.db.transaction() as connection:
            connection.execute(f'DELETE FROM "{name}"')
        written = links(tmp_path)[-len(columns) - 2 :]
        assert [{record[0] for record in link} for link in written] == [{name}] * len(written)
        assert all(link[-1][2] for link in written[:-1]), "a row that is there has a hash"
        assert written[-1][-1] == [name, "/".join("8" for _ in key), ""], "a row that went has none"
        assert len({link[-1][2] for link in written}) == len(written), "each column changes the hash"
    store.close()


def test_what_is_undone_is_in_no_link(tmp_path):
    store = RunStore(tmp_path)
    store.put_fact("before", 1)
    head = store.journal_head

    def broken() -> None:
        store._put_facts({"lost": 1})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store._write("test", broken)
    assert store.journal_head == head
    store.put_fact("after", 1)
    store.close()
    assert [link[0][1] for link in links(tmp_path)] == ["before", "after"]
    assert check_store(tmp_path).findings == []


def test_a_commit_that_the_disk_refuses_leaves_the_chain_as_it_was(tmp_path):
    store = RunStore(tmp_path)
    store.put_fact("before", 1)
    head = store.journal_head
    with store.db.transaction() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(StoreError, match="full"):
        store.put_fact("much", "x" * 100_000)
    assert store.journal_head == head
    with store.db.transaction() as connection:
        connection.execute("PRAGMA max_page_count=1000000")
    store.put_fact("much", "x" * 100_000)
    store.close()
    assert check_store(tmp_path).findings == [] and len(links(tmp_path)) == 2


def test_a_store_that_is_opened_again_goes_on_with_its_chain(tmp_path):
    for number in range(3):
        store = RunStore(tmp_path)
        store.put_fact(str(number), number)
        store.close()
    check = check_store(tmp_path)
    assert (check.findings, check.chain.links, check.chain.head) == ([], 3, store.journal_head)


def test_runs_of_each_family_hold(tmp_path):
    for name in write_all(tmp_path / "logs"):
        check = check_store(tmp_path / "logs" / name)
        assert check.findings == [], name
        assert check.chain.links > 100 and check.counts["nodes"] > 4


def test_the_journals_hash_is_told_once_and_checked(tmp_path):
    """A list reads it from the fact; without one, or when nodes came after it, it is computed from the rows."""
    store, journal = RunStore(tmp_path), Journal()
    nodes = [Node(id=f"n{k}", code=f"x = {k}\n", metric_value=k, signature=(k, 0.5), parent_ids=("n0",) * bool(k))
             for k in range(3)]  # fmt: skip
    store.commit([journal.append(node) for node in nodes[:2]], [])
    with RunReader(tmp_path) as reader:
        assert reader.journal_sha256() == journal.sha256
    store.put_fact("journal", {"nodes": 2, "sha256": journal.sha256})
    known = {one.where for one in check_store(tmp_path).findings}
    store.put_fact("journal", {"nodes": 2, "sha256": "told"})
    with RunReader(tmp_path) as reader:
        assert reader.journal_sha256() == "told"
    assert {one.where for one in check_store(tmp_path).findings} - known == {"facts/journal"}
    store.commit([journal.append(nodes[2])], [])
    store.close()
    with RunReader(tmp_path) as reader:
        assert reader.journal_sha256() == journal.sha256 == reader.journal().sha256
        assert reader.journal_sha256(len(journal)) == journal.sha256
        assert reader.journal_sha256(len(journal) - 1) is None  # `show` of a long run that never ended
