"""What lies in a row is what always lay there, and is read as it was given."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest

from core.storage.database import DB_NAME, Database
from core.storage.forms import FORMS, insert
from core.storage.models import TABLES, create_tables
from core.storage.packing import pack_json
from utils.errors import StoreError

NODE = {
    "id": "n1", "step": 3, "operator": "improve", "generation": None, "island": 2, "slot": 1, "metric_value": 0.1,
    "fitness": -0.1, "metric_source": "verified", "claimed_metric": None, "is_buggy": False, "is_valid": True,
    "failure": None, "exec_time": 0.25, "ctime": 1.5, "writer": "ü/m", "code_hash": "c" * 64, "code": "abc",
    "term_out": "", "parent_ids": ["n0"], "rest": {"plan": "a 'b'", "x": {"ü": 0.1}},
}  # fmt: skip
NODE_LIES = {**NODE, "is_buggy": 0, "is_valid": 1, "parent_ids": '["n0"]',
             "rest": '{"plan":"a \'b\'","x":{"\\u00fc":0.1}}'}  # fmt: skip
TASK = {"node_id": "n1", "round": 4, "slot": 0, "attempt": 0, "task": {"a": [1, None]}, "why": None}
AT = datetime(2026, 1, 2, 3, 4, 5, 6789, tzinfo=UTC)
EVENT = {"seq": 7, "type": "note", "node_id": None, "at": AT, "body": "{}"}
CALL = {
    "id": 1, "request_hash": "ab" * 32, "sample": "s", "node_id": None, "role": "code", "attempt": 0, "provider": "p",
    "model": "m", "system": b"1", "user": b"2", "tool": "", "reply": b"3", "finish_reason": "", "prompt_tokens": None,
    "completion_tokens": 5, "cost_usd": 0.5, "seconds": 0.0, "tries": 1, "cached": True,
}  # fmt: skip
CASES = [
    ("nodes", NODE, NODE_LIES),
    ("tasks", TASK, {**TASK, "task": pack_json('{"a": [1, null]}')}),
    ("events", EVENT, {**EVENT, "at": "2026-01-02 03:04:05.006789"}),
    ("events", {**EVENT, "at": 1767323045006789}, {**EVENT, "at": 1767323045006789}),
    ("calls", CALL, {**CALL, "request_hash": b"\xab" * 32, "cached": 1}),
    ("calls", {**CALL, "request_hash": "none"}, {**CALL, "request_hash": "none", "cached": 1}),
    ("facts", {"key": "a", "value": None}, {"key": "a", "value": "null"}),
    ("facts", {"key": "a", "value": True}, {"key": "a", "value": "true"}),
    ("facts", {"key": "a", "value": "7"}, {"key": "a", "value": '"7"'}),
    ("facts", {"key": "a", "value": 7}, {"key": "a", "value": 7}),
    ("facts", {"key": "a", "value": 1.5}, {"key": "a", "value": 1.5}),
]


@pytest.fixture
def db(tmp_path):
    found = Database(tmp_path / DB_NAME)
    yield found
    found.close()


@pytest.mark.parametrize(("table", "row", "lies"), CASES)
def test_a_row_lies_as_it_always_did_and_comes_back(db, table, row, lies):
    with db.transaction() as connection:
        insert(connection, table, [row])
    assert db.select(f"SELECT {', '.join(lies)} FROM {table}") == [tuple(lies.values())]
    kinds = ", ".join(f"typeof({name})" for name in lies)
    told = {int: "integer", bool: "integer", float: "real", str: "text", bytes: "blob", type(None): "null"}
    assert db.select(f"SELECT {kinds} FROM {table}") == [tuple(told[type(value)] for value in lies.values())]
    (back,) = db.rows(f"SELECT * FROM {table}")
    assert back == {**row, "at": AT} if table == "events" else back == row
    assert {name: type(value) for name, value in back.items() if isinstance(value, bool)} == {
        name: bool for name, value in row.items() if isinstance(value, bool)
    }


def test_columns_of_json_booleans_and_times_have_their_form_in_every_table():
    declared: dict[str, set[str]] = {}
    with closing(sqlite3.connect(":memory:")) as connection:
        create_tables(connection)
        for table in TABLES:
            for name, kind in connection.execute("SELECT name, type FROM pragma_table_info(?)", (table,)):
                declared.setdefault(name, set()).add(kind)
    formed = {name for name, kinds in declared.items() if kinds & {"JSON", "BOOLEAN", "DATETIME"}}
    assert FORMS.keys() == formed | {"task", "request_hash"}
    assert all(len(declared[name]) == 1 for name in FORMS), "a name has one form in the whole store"


def test_a_column_that_a_row_leaves_out_is_null_or_counted(db):
    with db.transaction() as connection:
        row = {name: value for name, value in CALL.items() if name not in ("id", "cost_usd")}
        assert [insert(connection, "calls", [row, row]), insert(connection, "calls", [row])] == [2, 3]
    assert db.select("SELECT id, cost_usd FROM calls") == [(1, None), (2, None), (3, None)]


def test_what_is_there_is_kept_replaced_or_refused(db):
    def put(value, conflict=""):
        with db.transaction() as connection:
            insert(connection, "facts", [{"key": "a", "value": value}], conflict)
        return db.value("SELECT value FROM facts")

    assert put({"x": [1]}) == {"x": [1]}
    assert put(2, "ON CONFLICT DO NOTHING") == {"x": [1]}
    assert put(2, "ON CONFLICT (key) DO UPDATE SET value = excluded.value") == 2
    with pytest.raises(StoreError, match=r"run\.db': UNIQUE constraint failed: facts\.key$"):
        put("secret")
    assert db.value("SELECT value FROM facts") == 2


def test_a_column_by_another_name_is_read_as_it_lies(db):
    with db.transaction() as connection:
        insert(connection, "nodes", [NODE])
    assert db.rows("SELECT is_valid, is_valid AS plain, sum(is_valid) FROM nodes") == [
        {"is_valid": True, "plain": 1, "sum(is_valid)": 1}
    ]
    assert db.select("SELECT is_valid FROM nodes") == [(1,)]
    assert db.value("SELECT parent_ids FROM nodes WHERE id = ?", ("n1",)) == ["n0"]
    assert db.value("SELECT parent_ids FROM nodes WHERE id = 'n9'") is None


def test_a_question_that_sqlite_refuses_is_told_in_its_words(db):
    with pytest.raises(StoreError, match=r"run\.db': no such table: nowhere$"):
        db.select("SELECT * FROM nowhere WHERE a = ?", ("secret",))
    db.close()
    with pytest.raises(StoreError, match="closed database"):
        db.value("SELECT 1")
