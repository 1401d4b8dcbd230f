"""What programs are said to differ in."""

from __future__ import annotations

from contextlib import closing

from core.state.node import Node
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from dashboard.server.dimensions import dimensions


def test_the_score_is_not_a_parameter_that_explains_the_score(tmp_path):
    nodes = [
        Node(
            id=f"{step:04x}", code="pass", operator="mutate", step=step, metric_value=float(step), is_valid=True,
            metrics={"cost": float(step), "turned": -float(step), "width": step % 3},
        )
        for step in range(6)
    ]  # fmt: skip
    with closing(RunStore(tmp_path)) as store:
        store.commit(nodes, [])
    with RunReader(tmp_path) as reader:
        told = dimensions(reader)
    assert told.names == ["width"] and [point.step for point in told.points] == [6, 5, 4, 3, 2, 1]


ODD = [
    '{"bags": 1%s, "members": []}' % ("0" * 400),
    '{"bags": NaN, "share": 1e400, "members": [{"weight": -1%s}]}' % ("0" * 400),
    '{"\\ud800": "\\udfff", "bags": 2}',
    '{"bags": ' + "[" * 900 + "]" * 900 + "}",
    "[" * 100_000,
    "[1]",
    "1" * 5000,
]


def test_a_recipe_may_hold_anything(tmp_path):
    nodes = [
        Node(
            id=f"{step:04x}", code=f"# recipe: {text}\npass", operator="mutate", step=step, metric_value=float(step),
            is_valid=True, metrics={"large": 10**400 + step},
        )
        for step, text in enumerate(ODD)
    ]  # fmt: skip
    with closing(RunStore(tmp_path)) as store:
        store.commit(nodes, [])
    with RunReader(tmp_path) as reader:
        assert dimensions(reader).model_dump_json().encode()
