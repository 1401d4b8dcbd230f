"""Rows against the events that told them, also where an older version wrote both."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.storage.reader import RunReader
from core.storage.told_node import check_told
from utils.errors import BrokenStoreError

GOLDEN = Path(__file__).parents[3] / "golden"


@pytest.fixture(params=[1, 3])
def run(request, tmp_path):
    """A run as that schema had it."""
    folder = tmp_path / "logs" / "run-1"
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(folder / "run.db")) as store:
        store.executescript((GOLDEN / f"store-schema-{request.param}.sql").read_text(encoding="utf-8"))
        store.commit()
    return folder


def ids(reader):
    return [row["id"] for row in reader.db.rows("SELECT id FROM nodes ORDER BY step")]


def test_what_older_versions_wrote_agrees(run):
    with RunReader(run) as reader:
        check_told(reader.db, [*ids(reader), "no-such-node"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("metric_value = 7.5, fitness = -7.5", "its metric_value is 7.5, and event"),
        ("fitness = 7.5", "its fitness is 7.5"),
        ("step = step + 100, failure = 'timeout'", "its failure is 'timeout', and event"),
        ("code_hash = 'another'", "its program is not the one that was scored"),
    ],
)
def test_a_row_that_was_changed_is_named(run, change, said):
    with RunReader(run) as reader:
        node = ids(reader)[0]
    with closing(sqlite3.connect(run / "run.db")) as store:
        store.execute(f"UPDATE nodes SET {change} WHERE id = ?", (node,))
        store.commit()
    with RunReader(run) as reader, pytest.raises(BrokenStoreError, match="somebody changed the store") as refused:
        check_told(reader.db, [node])
    assert said in str(refused.value) and node in str(refused.value) and "run-1" in str(refused.value)
