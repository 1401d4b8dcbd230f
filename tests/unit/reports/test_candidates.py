"""A row a program: also of the winner that stands beside the journal."""

from core.state.node import Node
from core.storage.reader import RunReader
from reports.candidates import candidate_rows


def test_a_baseline_that_nothing_beat_has_its_row(write_run, small_nodes):
    kept = Node(id="baseline0001", code="x = 1\n", operator="baseline", name="ridge", writer="baseline")
    final = {"node_id": kept.id, "metric": 0.4, "program": kept.model_dump(mode="json")}
    with RunReader(write_run(small_nodes, final=final)) as reader:
        rows = candidate_rows(reader)
    assert len(rows) == len(small_nodes) + 1
    assert [row["node_id"] for row in rows if row["is_winner"]] == [kept.id] and rows[-1]["name"] == "ridge"
