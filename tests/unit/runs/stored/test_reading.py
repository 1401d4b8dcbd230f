"""What is known of a stored run: the same whoever reads it."""

from __future__ import annotations

import json
from contextlib import closing

from fastapi.testclient import TestClient
from support.command_line import toy_words

from core.events import RunFinished, Warned
from core.state.node import Node
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from dashboard.server.app import create_app
from reports.conclusion import why_ended
from reports.facts import read_facts
from runs.stored.reading import node_facts, warnings_of


def test_what_tree_search_counts_is_shown_as_it_was(cli):
    """`show`, the API and best_solution/ tell the same visits and rewards, which no store holds."""
    assert cli.here(*toy_words(30), "search.policy=mcts", "search.batch=1").code == 0
    live = json.loads((cli.run_dir / "best_solution" / "node.json").read_text())
    stored = cli.node(live["id"])
    assert stored["visits"] == live["visits"] > 1 and stored["total_reward"] == live["total_reward"] > 0
    with TestClient(create_app(cli.folder), base_url="http://127.0.0.1") as client:
        told = client.get(f"/api/runs/{cli.run_dir.name}/nodes/{live['id']}").json()["node"]
    assert (told["visits"], told["total_reward"]) == (live["visits"], live["total_reward"])
    assert f"visits {live['visits']}, mean reward" in cli.here("show", "latest", live["id"]).out


def test_what_is_told_of_a_run_that_goes_on_is_of_one_moment(finished, cli, monkeypatch):
    """A report of a run that went on had the nodes of one moment, the best of a later one and a hash of neither."""
    asked, before = RunReader.nodes, cli.show()

    def nodes(self, **filters):
        with closing(RunStore(cli.run_dir)) as store:  # the run goes on while it is read
            store.save(Node(id=f"n{store.seq}", code=f"x = {store.seq + 100}", metric_value=1e-9, lower_is_better=True))
            store.append([Warned(text="later")])
        return asked(self, **filters)

    monkeypatch.setattr(RunReader, "nodes", nodes)
    told = read_facts(cli.run_dir)
    assert (told.journal_sha256, told.journal_head) == (before["journal_sha256"], before["journal_head"])
    assert [node.id for node in told.nodes] == [row["node_id"] for row in before["nodes"]]
    assert told.best.id == before["best_node_id"] and told.warnings == []
    assert len(read_facts(cli.run_dir).nodes) > len(told.nodes)


def test_policies_that_count_nothing_show_nothing(finished, cli):
    with RunReader(cli.run_dir) as reader:
        facts = node_facts(reader, cli.show()["best_node_id"])
    assert facts["visits"] == 0 and "visits" not in cli.here("show", "latest", facts["id"]).out


def test_the_last_warnings_of_a_long_run_are_its_last(tmp_path):
    """The first thousand events were looked at, those of nodes among them: what came later was told nowhere."""
    store = RunStore(tmp_path)
    store.append([Warned(text="claimed 3, scored 4", node_id=f"n{place}") for place in range(1200)])
    store.append([Warned(text=f"warning {place}") for place in range(1100)])
    store.append([RunFinished(status="interrupted", reason=f"end {place}") for place in range(1100)])
    store.close()
    with RunReader(tmp_path) as reader:
        assert warnings_of(reader) == [f"warning {place}" for place in range(1095, 1100)]
        assert why_ended(reader) == "end 1099"
