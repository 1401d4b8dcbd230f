"""Stores of a newer version, damaged ones, strangers': each view says so in a line, and none is a fault of ours."""

from __future__ import annotations

import shutil
import sqlite3

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from support.synthetic_runs import arena, competition

from dashboard.server.app import create_app

VIEWS = (
    "", "/snapshot", "/events", "/live", "/curve", "/failures", "/islands", "/generations", "/dimensions", "/cost",
    "/outside", "/nodes", "/engines", "/games", "/candidates.csv", "/report.html", "/solution",
)  # fmt: skip
DAMAGES = {
    "a failure of a newer version": "UPDATE nodes SET failure = 'weird' WHERE failure IS NOT NULL",
    "a cost that is no number": "UPDATE nodes SET rest = json_set(rest, '$.cost_usd', 'much')",
    "a score beyond all": "UPDATE nodes SET metric_value = 1e999 WHERE metric_value IS NOT NULL",
    "an operator that nobody has": "UPDATE nodes SET operator = 'weird'",
    "parents that are none": "UPDATE nodes SET parent_ids = '[\"weird\"]'",
    "times beyond all": "UPDATE events SET at = 1e308",
    "an event that was packed by nobody": "UPDATE events SET body = x'07ff00ff' WHERE seq > 3",
    **{f"empty events {kind}": f"""UPDATE events SET body = '{{"type":"{kind}"}}' WHERE type = '{kind}'"""
       for kind in ("node.committed", "generation.started", "generation.finished", "game.started", "game.finished",
                    "builder.completed", "baseline.scored")},
}  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    logs = tmp_path_factory.mktemp("project") / "logs"
    competition(logs, 12, run="steps").finish()
    arena(logs, 2, run="games").finish()
    return logs


@pytest.mark.parametrize("run", ["steps", "games"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_store_with_foreign_values_is_told_as_unreadable(runs, tmp_path, run, damage):
    """The curve, the failures, generations, engines and games of such a run were `Internal Server Error`."""
    shutil.copytree(runs / run, tmp_path / "logs" / run)
    with sqlite3.connect(tmp_path / "logs" / run / "run.db") as store:
        store.execute(damage)
    store.close()
    app = create_app(tmp_path)
    with TestClient(app, base_url="http://127.0.0.1:8008", raise_server_exceptions=False) as client:
        answers = {view: client.get(f"/api/runs/{run}{view}") for view in VIEWS}
    refused = {view: answer for view, answer in answers.items() if answer.status_code != 200}
    assert {answer.status_code for answer in refused.values()} <= {422}, refused
    told = [answer.json()["detail"] for answer in refused.values()]
    assert all(f"run {run} is unreadable" in one or "somebody changed the store" in one for one in told), told


@pytest.mark.parametrize("damage", ["at = 1e308", "body = x'07ff00ff'"])
def test_who_follows_a_run_is_told_of_an_event_that_cannot_be_read(runs, tmp_path, damage):
    """The task that reads new events ended for good, and the page waited for ever."""
    shutil.copytree(runs / "steps", tmp_path / "logs" / "steps")
    with sqlite3.connect(tmp_path / "logs" / "steps" / "run.db") as store:
        (last,) = store.execute("SELECT max(seq) FROM events").fetchone()
        with TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8008") as client:
            with client.websocket_connect(f"ws://127.0.0.1:8008/ws?run=steps&after={last}") as socket:
                assert socket.receive_json()["kind"] == "status"
                store.execute(
                    f"INSERT INTO events SELECT seq + 1, type, node_id, at, body FROM events WHERE seq = {last}"
                )
                store.execute(f"UPDATE events SET {damage} WHERE seq = {last + 1}")
                store.commit()
                with pytest.raises(WebSocketDisconnect) as closed:
                    for _ in range(20):
                        socket.receive_json()
    store.close()
    assert closed.value.code == 4410
