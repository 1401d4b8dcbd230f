"""A row a program: also of the winner that stands beside the journal."""

import csv
import io
import json
import time

from core.state.node import Node
from core.storage.reader import RunReader
from reports.candidates import candidate_rows, candidates_csv, json_lines


def test_a_baseline_that_nothing_beat_has_its_row(write_run, small_nodes):
    kept = Node(id="baseline0001", code="x = 1\n", operator="baseline", name="ridge", writer="baseline")
    final = {"node_id": kept.id, "metric": 0.4, "program": kept.model_dump(mode="json")}
    with RunReader(write_run(small_nodes, final=final)) as reader:
        rows = candidate_rows(reader)
    assert len(rows) == len(small_nodes) + 1
    assert [row["node_id"] for row in rows if row["is_winner"]] == [kept.id] and rows[-1]["name"] == "ridge"


def test_the_winners_interval_that_was_estimated_at_the_end_stands_in_its_row_and_in_sql(write_run, small_nodes):
    """Competitions estimate it once, at the end; every other row of them has none."""
    won = next(node for node in small_nodes if node.is_scored)
    final = {"node_id": won.id, "metric": 0.4, "detail": {"validation_interval": [0.1, 0.3]}}
    with RunReader(write_run(small_nodes, final=final)) as reader:
        rows = candidate_rows(reader)
        view = "SELECT id, low, high FROM candidates WHERE low IS NOT NULL"
        stored = reader.db.select(view)
    told = [(row["node_id"], row["low"], row["high"]) for row in rows if row["low"] is not None]
    assert told == stored == [(won.id, 0.1, 0.3)]


def test_many_metrics_take_as_long_as_they_are_many(write_run, small_nodes):
    """Every cell was looked for among all of its node's: a minute for what takes a tenth of a second."""
    many = [node.model_copy(update={"metrics": {f"m{i}": i for i in range(10_000)}}) for node in small_nodes[:3]]
    with RunReader(write_run(many)) as reader:
        began = time.process_time()
        rows = candidate_rows(reader)
        assert time.process_time() - began < 8
    assert all(row["metrics.m9999"] == 9999 for row in rows)


def test_no_cell_is_run_by_a_spreadsheet_and_json_stays_exact(write_run, small_nodes):
    said = {"=1+1": "=cmd|' /C calc'!A0", "-2": "-2", "text": "-x", "list": ["=1"], "plain": "a=b", "n": -1.5}
    odd = small_nodes[0].model_copy(update={"metrics": said, "message": "@SUM(A1)", "name": "\t=1"})
    with RunReader(write_run([odd])) as reader:
        rows = candidate_rows(reader)
    head, cells = list(csv.reader(io.StringIO(candidates_csv(rows))))[:2]
    told = dict(zip(head, cells, strict=True))
    assert told["metrics.=1+1"] == "'=cmd|' /C calc'!A0" and told["metrics.text"] == "'-x"
    assert told["message"] == "'@SUM(A1)" and told["name"].startswith("'")
    assert told["metrics.-2"] == "-2" and told["metrics.plain"] == "a=b" and told["metrics.n"] == "-1.5"
    exact = json.loads("\n".join(json_lines(rows)))[0]
    assert exact["message"] == "@SUM(A1)" and exact["metrics.=1+1"] == said["=1+1"]
