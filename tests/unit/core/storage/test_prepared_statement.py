"""Prepared statements write what SQLAlchemy's own execution of them writes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import create_engine, insert, select, text

from core.storage.models import EVENTS, FACTS, METADATA, NODES, STAGES, TASKS
from core.storage.prepared_statement import Prepared
from core.storage.statements import ADD_EVENT, ADD_NODE, ADD_TASK, DROP_STAGES, PUT_FACT, PUT_STAGE

NODE = {
    "id": "n1", "step": 3, "operator": "improve", "generation": None, "island": 2, "slot": 1, "metric_value": 0.1,
    "fitness": -0.1, "metric_source": "verified", "claimed_metric": None, "is_buggy": False, "is_valid": True,
    "failure": None, "exec_time": 0.25, "ctime": 1.5, "writer": "ü/m", "code_hash": "c" * 64, "code": "abc",
    "term_out": "", "parent_ids": ["n0"], "rest": {"plan": "a 'b'", "seconds": {"x": 0.1}},
}  # fmt: skip
EVENT = {"seq": 7, "type": "note", "node_id": None, "at": datetime(2026, 1, 2, 3, 4, 5, 6789, tzinfo=UTC), "body": "{}"}
TASK = {"node_id": "n1", "round": 4, "slot": 0, "attempt": 0, "task": {"a": [1, None]}, "why": None}
CASES = [(NODES, ADD_NODE, NODE), (EVENTS, ADD_EVENT, EVENT), (TASKS, ADD_TASK, TASK)]


@pytest.fixture
def connection():
    engine = create_engine("sqlite://")
    METADATA.create_all(engine)
    with engine.connect() as opened:
        yield opened
    engine.dispose()


def as_stored(connection, table):
    """What SQLite itself holds: values with their storage classes."""
    kinds = ", ".join(f'"{column.name}", typeof("{column.name}")' for column in table.columns)
    return [tuple(row) for row in connection.execute(text(f"SELECT {kinds} FROM {table.name}"))]


@pytest.mark.parametrize(("table", "prepared", "row"), CASES, ids=[case[0].name for case in CASES])
def test_rows_lie_as_sqlalchemy_would_have_put_them(connection, table, prepared, row):
    connection.execute(insert(table), row)
    expected = as_stored(connection, table)
    connection.rollback()
    prepared.run(connection, [row])
    assert as_stored(connection, table) == expected and len(expected) == 1


def test_rows_with_other_columns_are_other_words_of_the_same_statement(connection):
    add = Prepared(insert(NODES))
    add.run(connection, [NODE])
    assert add.run(connection, [{**NODE, "id": "n2", "step": 4}, {**NODE, "id": "n3", "step": 5}]) == 3
    add.run(connection, [{name: value for name, value in NODE.items() if name != "island"} | {"id": "n4", "step": 6}])
    found = connection.execute(select(NODES.c.id, NODES.c.island).order_by(NODES.c.id)).all()
    assert [tuple(row) for row in found] == [("n1", 2), ("n2", 2), ("n3", 2), ("n4", None)]


def test_what_is_there_is_replaced_and_dropped(connection):
    PUT_FACT.run(connection, [{"key": "a", "value": 1}, {"key": "b", "value": None}])
    PUT_FACT.run(connection, [{"key": "a", "value": {"x": [2]}}])
    assert dict(connection.execute(select(FACTS.c.key, FACTS.c.value)).all()) == {"a": {"x": [2]}, "b": None}
    PUT_STAGE.run(connection, [{"node_id": n, "stage": "execute", "payload": "{}"} for n in ("n1", "n2", "n3")])
    DROP_STAGES.run(connection, [{"node": "n1"}, {"node": "n3"}])
    assert connection.execute(select(STAGES.c.node_id)).scalars().all() == ["n2"]
