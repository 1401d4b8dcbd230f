"""Nodes of earlier versions, which kept half characters that a page cannot be told of."""

from __future__ import annotations

from contextlib import closing

from core.state.node import Node
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from dashboard.server.nodes import diff, node_detail

HALF = "a\ud800b"


def test_a_node_that_holds_half_characters_can_be_opened(tmp_path):
    node = Node(
        id="ab12", code=f"x = '{HALF}'", name=HALF, plan=HALF, message=HALF, term_out=HALF, analysis=HALF, logs=HALF,
        metrics={"m": HALF, "n": [HALF]}, artifacts={"a": HALF}, metadata={"k": HALF}, metric_value=1.0,
    )  # fmt: skip
    with closing(RunStore(tmp_path)) as store:
        store.commit([node], [])
    with RunReader(tmp_path) as reader:
        kept = reader.node("ab12")
        assert kept is not None and kept.code == node.code, "the store is exact"
        assert node_detail(reader, kept).model_dump_json().encode()
        assert diff(kept, None).model_dump_json().encode()


def test_lines_of_a_difference_are_python_s_lines(tmp_path):
    told = diff(Node(id="b", code="a = 'x\u2028y'\nb = 1\n"), Node(id="a", code="a = 'x\u2028y'\nb = 2\n"))
    assert [(line.kind, line.new) for line in told.lines if line.kind == "add"] == [("add", 2)]


def test_an_output_of_one_traceback_over_and_over_shows_it_once(tmp_path):
    trace = 'Traceback (most recent call last):\n  File "/workspace/solution.py", line 3, in f\n    g()\nKeyError: 1\n'
    with closing(RunStore(tmp_path)) as store:
        store.commit([Node(id="ab12", code="x = 1", term_out=trace * 200)], [])
    with RunReader(tmp_path) as reader:
        kept = reader.node("ab12")
        assert kept is not None and kept.term_out == trace * 200, "the store is exact"
        assert node_detail(reader, kept).node.term_out == f"{trace}[this traceback came 200 times]\n"
