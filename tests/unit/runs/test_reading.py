"""What is known of a stored run: the same whoever reads it."""

from __future__ import annotations

import json

from fastapi.testclient import TestClient
from support.command_line import toy_words

from core.storage.reader import RunReader
from dashboard.server.app import create_app
from runs.reading import node_facts


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


def test_policies_that_count_nothing_show_nothing(finished, cli):
    with RunReader(cli.run_dir) as reader:
        facts = node_facts(reader, cli.show()["best_node_id"])
    assert facts["visits"] == 0 and "visits" not in cli.here("show", "latest", facts["id"]).out
