"""The REST API over real stores: what each view is told, and what is refused."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from support.dashboard import ROOT, serving
from support.synthetic_runs import competition, write_all

from core.events import FinalScored, Warned
from core.storage.packing import json_of
from dashboard.server import own
from dashboard.server.app import create_app
from dashboard.server.presets import presets
from dashboard.server.schemas.control import StartRequest
from dashboard.server.schemas.runs import ReplayAt
from dashboard.server.snapshot import WARNINGS
from reports.verdict_kind import IN_WORDS

pytestmark = pytest.mark.usefixtures("forked_children")

COMPETITION, PACKING, CHESS, FOUR = "competition-demo", "bin_packing-demo", "chess-demo", "connect_four-demo"


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    write_all(folder / "logs")
    return folder


@pytest.fixture(scope="module")
def client(project):
    with TestClient(create_app(project), base_url="http://127.0.0.1:8008") as client:
        yield client


@pytest.fixture
def held(project):
    """The competition run, held as a live search holds it."""
    lock = project / "logs" / COMPETITION / "run.lock"
    with lock.open("r+") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield lock
    (lock.parent / "control.jsonl").unlink(missing_ok=True)


def get(client, path, **query):
    answer = client.get(f"/api{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


# ---------------------------------------------------------------- what is told


def test_runs_are_listed_with_their_outcome(client):
    runs = {line["run"]: line for line in get(client, "/runs")}
    assert all(line["verdict_words"] for line in runs.values())
    assert set(runs) == {COMPETITION, PACKING, CHESS, FOUR}
    line = runs[COMPETITION]
    assert line["status"] == "finished" and not line["live"] and line["steps"] == 60 and line["writer"] == "rules"
    assert line["cost_usd"] is None, "rules has no cost: null, not 0"


def test_best_of_the_list_is_the_minimum_for_a_problem_that_minimises(client):
    nodes = get(client, f"/runs/{COMPETITION}/nodes", limit=1000)["nodes"]
    scored = [n["metric"] for n in nodes if n["metric"] is not None and n["is_valid"] and not n["is_buggy"]]
    assert get(client, f"/runs/{COMPETITION}")["best_metric"] == min(scored)


def test_a_store_that_cannot_be_read_is_listed_with_the_reason(tmp_path):
    broken = tmp_path / "logs" / "broken"
    broken.mkdir(parents=True)
    (broken / "run.db").write_bytes(b"not a database at all, only bytes" * 40)
    newer = tmp_path / "logs" / "newer"
    newer.mkdir()
    with sqlite3.connect(newer / "run.db") as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    with TestClient(create_app(tmp_path), base_url="http://localhost") as client:
        lines = {line["run"]: line for line in get(client, "/runs")}
        assert lines["broken"]["status"] == "unreadable" and lines["broken"]["error"]
        assert "schema 99" in lines["newer"]["error"]
        assert client.get("/api/runs/newer").status_code == 422, "no use to ask again"
        answer = client.get("/api/runs/broken/snapshot")
        assert answer.status_code == 422 and "report.html and best_solution/, may be whole" in answer.json()["detail"]


def test_the_configuration_is_shown_masked(client):
    assert get(client, f"/runs/{COMPETITION}")["config"]["llm"]["code"]["api_key"] == "********"


def test_a_snapshot_and_the_events_after_it_are_everything(client):
    whole = get(client, f"/runs/{COMPETITION}/snapshot")
    half = get(client, f"/runs/{COMPETITION}/snapshot", at=whole["as_of_seq"] // 2)
    rest = get(client, f"/runs/{COMPETITION}/events", after=half["as_of_seq"], limit=5000)["events"]
    ids = [e["node_id"] for e in half["events"] + rest if e["type"] == "node.committed"]
    assert ids == [e["node_id"] for e in whole["events"] if e["type"] == "node.committed"]
    assert len(ids) == 60


def test_a_snapshot_at_zero_is_empty(client):
    snapshot = get(client, f"/runs/{COMPETITION}/snapshot", at=0)
    assert snapshot["as_of_seq"] == 0 and snapshot["events"] == [] and snapshot["totals"]["calls"] == 0


def test_a_snapshot_holds_the_last_position_of_the_newest_games_without_pgn(client):
    events = get(client, f"/runs/{CHESS}/snapshot")["events"]
    moves = [e for e in events if e["type"] == "game.move"]
    finished = [e for e in events if e["type"] == "game.finished"]
    assert len(moves) == len({e["game_id"] for e in moves}) == len(finished)
    assert all(e.get("pgn", "") == "" for e in finished)
    assert {e["ply"] for e in moves} <= {e["plies"] for e in finished}


def test_events_are_paged_in_order(client):
    first = get(client, f"/runs/{COMPETITION}/events", after=0, limit=10)
    second = get(client, f"/runs/{COMPETITION}/events", after=10, limit=10)
    assert [e["seq"] for e in first["events"] + second["events"]] == list(range(1, 21))
    assert first["events"][0]["type"] == "run.started" and first["events"][0]["at"].startswith("2026-01-05T09:30")


def test_a_list_has_the_words_of_a_verdict_that_reports_have(client):
    lines = get(client, "/runs")
    assert lines and [line["verdict_words"] for line in lines] == [IN_WORDS[line["verdict"]] for line in lines]
    assert get(client, f"/runs/{lines[0]['run']}")["verdict_words"] == lines[0]["verdict_words"]


def test_nodes_are_paged_and_filtered(client):
    page = get(client, f"/runs/{COMPETITION}/nodes", offset=10, limit=5)
    assert page["total"] == 60 and [n["step"] for n in page["nodes"]] == [11, 12, 13, 14, 15]
    buggy = get(client, f"/runs/{COMPETITION}/nodes", buggy="true", limit=1000)
    assert buggy["total"] == len(buggy["nodes"]) > 3 and all(n["failure"] for n in buggy["nodes"])
    one = get(client, f"/runs/{PACKING}/nodes", island=1, generation=3)
    assert {(n["island"], n["generation"]) for n in one["nodes"]} == {(1, 3)} and one["total"] == 4


def test_a_node_can_be_opened_whole(client):
    row = next(n for n in get(client, f"/runs/{COMPETITION}/nodes", limit=1000)["nodes"] if n["operator"] == "improve")
    detail = get(client, f"/runs/{COMPETITION}/nodes/{row['node_id']}")
    assert detail["node"]["code"].startswith("import pandas") and detail["why"]["rule"] == "greedy"
    assert set(detail["stages"]) == {"prompt", "reply", "execute"} and detail["totals"]["calls"] == 1
    assert detail["totals"]["prompt_tokens"] is None
    parent = get(client, f"/runs/{COMPETITION}/nodes/{row['parent_ids'][0]}")
    assert row["node_id"] in parent["children_ids"]
    calls = get(client, f"/runs/{COMPETITION}/nodes/{row['node_id']}/calls")
    assert "# Task" in calls[0]["user"] and "```python" in calls[0]["reply"]
    short = get(client, f"/runs/{COMPETITION}/nodes/{row['node_id'][:8]}")
    assert short["node"]["id"] == row["node_id"]


def test_a_node_is_opened_by_the_first_digits_of_its_id_with_its_prompts(client):
    node = get(client, f"/runs/{COMPETITION}/nodes")["nodes"][-1]["node_id"]
    calls = get(client, f"/runs/{COMPETITION}/nodes/{node}/calls")
    assert calls and get(client, f"/runs/{COMPETITION}/nodes/{node[:8]}/calls") == calls


def test_a_winner_that_was_scored_beside_the_search_can_be_opened(tmp_path):
    made = competition(tmp_path / "logs", 4, run="beaten")
    made.end()
    ridge = made.nodes[0].model_copy(
        update={"id": "34ea3f97a1bc", "operator": "baseline", "name": "ridge", "code": "ridge\n"}
    )
    program = ridge.model_dump(mode="json")
    made.store.put_facts(
        {"final": {"node_id": ridge.id, "metric": 51.7, "interval": None, "program": program}},
        [FinalScored(node_id=ridge.id, metric=51.7)],
    )
    made.store.put_fact("baselines", [{"name": "dummy", "node_id": "b7d864d576d2", "metric": 79.5, "failure": None}])
    made.close()
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8008") as client:
        found = get(client, f"/runs/beaten/nodes/{ridge.id}")["node"]
        assert (found["name"], found["step"], found["code"]) == ("ridge", None, "ridge\n")
        assert client.get(f"/api/runs/beaten/nodes/{ridge.id}/code").text == "ridge\n"
        assert get(client, f"/runs/beaten/nodes/{made.nodes[1].id}/diff", against=ridge.id)["removed"] >= 1
        answer = client.get("/api/runs/beaten/nodes/b7d864d576d2")
        assert answer.status_code == 404 and "the baseline dummy was scored beside" in answer.json()["detail"]


def test_code_is_plain_text_that_no_browser_renders(client):
    node = get(client, f"/runs/{COMPETITION}/nodes", limit=1)["nodes"][0]["node_id"]
    answer = client.get(f"/api/runs/{COMPETITION}/nodes/{node}/code")
    assert "<script>" in answer.text and answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_diff_tells_both_sides_and_patches_parent_into_child(client):
    row = next(n for n in get(client, f"/runs/{COMPETITION}/nodes", limit=1000)["nodes"] if n["operator"] == "improve")
    diff = get(client, f"/runs/{COMPETITION}/nodes/{row['node_id']}/diff")
    assert diff["against"] == row["parent_ids"][0] and diff["added"] >= 1 and diff["removed"] >= 1
    code = client.get(f"/api/runs/{COMPETITION}/nodes/{row['node_id']}/code").text.splitlines()
    assert all(code[line["new"] - 1] == line["text"] for line in diff["lines"] if line["kind"] in ("add", "same"))
    draft = next(n for n in get(client, f"/runs/{COMPETITION}/nodes")["nodes"] if n["operator"] == "draft")
    whole = get(client, f"/runs/{COMPETITION}/nodes/{draft['node_id']}/diff")
    assert whole["against"] is None and whole["removed"] == 0


def test_what_programs_differ_in(tmp_path):
    made = competition(tmp_path / "logs", 0, run="differing")
    for alpha in range(8):
        made.step(code=f'# recipe: {{"models": [{{"kind": "ridge", "alpha": {alpha}}}], "seed": 1}}\nprint(1)\n')
    made.close()
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1") as client:
        told = get(client, "/runs/differing/dimensions")
    assert "models.alpha" in told["names"] and "models.kind" not in told["names"] and "seed" not in told["names"]
    place = told["names"].index("models.alpha")
    assert {point["values"][place] for point in told["points"]} <= set(range(8)) and len(told["points"]) > 2


def test_files_that_a_program_left_are_saved_and_never_shown(client, project):
    node = get(client, f"/runs/{COMPETITION}/nodes", limit=1)["nodes"][0]["node_id"]
    folder = project / "logs" / COMPETITION / "files" / node
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / f"{node}.zip", "w") as archive:
        archive.writestr("../page.html", "<script>alert(1)</script>")
    path = f"/runs/{COMPETITION}/nodes/{node}"
    assert get(client, path)["files"] == [{"name": "../page.html", "bytes": 25}]
    answer = client.get(f"/api{path}/file", params={"name": "../page.html"})
    assert answer.text == "<script>alert(1)</script>" and answer.headers["content-disposition"] == "attachment"
    assert answer.headers["content-type"] == "application/octet-stream"
    for name in ("../../run.db", "/etc/passwd", "page.html"):
        assert client.get(f"/api{path}/file", params={"name": name}).status_code == 404


def test_the_report_and_the_winners_files_are_saved_and_never_shown(client, project):
    answer = client.get(f"/api/runs/{COMPETITION}/report.html")
    assert answer.headers["content-disposition"] == f'attachment; filename="{COMPETITION}.html"'
    assert "<h2>Outcome</h2>" in answer.text and not (project / "logs" / COMPETITION / "report.html").exists()
    path = f"/runs/{COMPETITION}/solution"
    assert get(client, path) == []
    folder = project / "logs" / COMPETITION / "best_solution"
    (folder / "artifacts").mkdir(parents=True)
    (folder / "artifacts" / "page.html").write_text("<script>alert(1)</script>")
    (folder / "elsewhere").symlink_to(project / "logs" / COMPETITION / "run.db")
    (folder / "outside").symlink_to(project, target_is_directory=True)
    assert get(client, path) == [{"name": "artifacts/page.html", "bytes": 25}]
    answer = client.get(f"/api{path}/file", params={"name": "artifacts/page.html"})
    assert answer.text == "<script>alert(1)</script>" and answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == 'attachment; filename="competition-demo-page.html"'
    for name in ("../run.db", "/etc/passwd", "page.html", "elsewhere", "outside/logs", "artifacts"):
        assert client.get(f"/api{path}/file", params={"name": name}).status_code == 404
    assert client.get("/api/runs/nobody/report.html").status_code == 404


def test_failures_are_counted_with_advice_and_an_example(client):
    found = get(client, f"/runs/{COMPETITION}/failures")
    buggy = get(client, f"/runs/{COMPETITION}/nodes", buggy="true", limit=1000)["total"]
    assert sum(item["count"] for item in found) == buggy
    assert all(
        item["advice"] and item["example"] and sum(item["operators"].values()) == item["count"] for item in found
    )


def test_islands_and_generations(client):
    islands = get(client, f"/runs/{PACKING}/islands")
    assert [i["island"] for i in islands["islands"]] == [0, 1, 2] and len(islands["migrations"]) == 3
    assert all(a[1] >= b[1] for i in islands["islands"] for a, b in zip(i["history"], i["history"][1:], strict=False))
    generations = get(client, f"/runs/{PACKING}/generations")
    assert [g["generation"] for g in generations] == list(range(12)) and all(g["nodes"] == 12 for g in generations)


def test_a_curve_goes_by_steps_time_and_dollars(client):
    curve = get(client, f"/runs/{COMPETITION}/curve")
    assert len(curve["steps"]) == len(curve["best"]) == len(curve["seconds"]) == len(curve["dollars"]) > 2
    assert curve["seconds"] == sorted(curve["seconds"]) and curve["seconds"][-1] > 50 and set(curve["dollars"]) == {0}


def test_a_curve_by_time_does_not_go_back_where_a_kill_took_seconds_from_the_count(tmp_path):
    """A process that goes on counts from what was saved last: lines were drawn backwards, means looked up wrong."""
    competition(tmp_path / "logs", 30, run="killed").finish()
    with sqlite3.connect(tmp_path / "logs" / "killed" / "run.db") as store:
        told = store.execute("SELECT seq, body FROM events WHERE type = 'node.committed' ORDER BY seq").fetchall()
        for seq, body in told[10:]:
            event = json_of(body)
            later = json.dumps({**event, "elapsed": event["elapsed"] - 12})
            store.execute("UPDATE events SET body = ? WHERE seq = ?", (later, seq))
    store.close()
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8008") as client:
        seconds = client.get("/api/runs/killed/curve").json()["seconds"]
    assert seconds == sorted(seconds) and len(set(seconds)) > 2


def test_the_curve_only_improves(client):
    curve = get(client, f"/runs/{COMPETITION}/curve")
    assert curve["best"] == sorted(curve["best"], reverse=True) and curve["steps"][-1] == 60


GAMES_IN_THREADS = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from starlette.testclient import TestClient
from dashboard.server.app import create_app
client = TestClient(create_app(Path({project!r})), base_url="http://127.0.0.1:8008")
for _ in range(20):  # each answer in a thread of its own, which is gone before the next
    assert client.get("/api/runs/{run}/game?id=g1-0").json()["origin"].startswith("rnbqkbnr/")
"""


def test_the_server_outlives_the_threads_that_looked_at_a_chess_game(project):
    """It ended by SIGSEGV some seconds after a chess game was opened: rust-chess was loaded by a gone thread."""
    code = GAMES_IN_THREADS.format(root=str(ROOT), project=str(project), run=CHESS)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=400)
    assert ran.returncode == 0, (ran.returncode, ran.stderr[-2000:])


def test_engines_games_moves_and_pgn(client):
    engines = get(client, f"/runs/{CHESS}/engines")
    assert engines and all(e["low"] <= e["elo"] <= e["high"] for e in engines)
    page = get(client, f"/runs/{CHESS}/games", engine=engines[0]["node_id"], limit=3)
    assert page["total"] >= 1 and all(engines[0]["node_id"] in (g["white"], g["black"]) for g in page["games"])
    row = page["games"][0]
    game = get(client, f"/runs/{CHESS}/game", id=row["game_id"])
    assert [m["ply"] for m in game["moves"]] == list(range(1, row["plies"] + 1)) and game["start"].endswith(
        "w KQkq - 0 1"
    )
    assert game["opening"] == [] and game["origin"] == game["start"]
    pgn = client.get(f"/api/runs/{CHESS}/pgn", params={"id": row["game_id"]})
    assert pgn.text.startswith("[White ") and pgn.headers["content-type"].startswith("application/x-chess-pgn")
    assert get(client, f"/runs/{CHESS}/games", generation=1)["total"] < get(client, f"/runs/{CHESS}/games")["total"]


def test_cost_by_role(client):
    cost = get(client, f"/runs/{COMPETITION}/cost")
    assert cost["totals"]["calls"] == 60 and cost["rows"][0]["provider"] == "rules"
    assert cost["totals"]["cost_usd"] is None


def test_the_tail_of_a_running_candidate(client, project):
    live = project / "logs" / COMPETITION / "live"
    live.mkdir()
    secret = project / "secret.txt"
    secret.write_text("secret")
    (live / "0123456789ab.out").write_text("x" * 9000 + "end")
    (live / "notes.out").write_text("not a node")
    (live / "abcdefabcdef.out").symlink_to(secret)
    told = get(client, f"/runs/{COMPETITION}/live")
    assert (told["work"], told["running"], told["waiting"]) == (None, 0, 0), "no process tells what it does"
    tails = told["tails"]
    assert [t["node_id"] for t in tails] == ["0123456789ab"]
    assert tails[0]["text"].endswith("end") and len(tails[0]["text"]) == 8192 and tails[0]["cut"]


def test_pipes_in_a_strangers_run_keep_nobody_waiting(client, project):
    name = f"{COMPETITION}-stranger"
    folder = project / "logs" / name
    shutil.copytree(project / "logs" / COMPETITION, folder, symlinks=True)  # another test may have laid some
    try:
        node = get(client, f"/runs/{name}/nodes")["nodes"][-1]["node_id"]
        archive = f"files/{node}/{node}.zip"
        for pipe in ("live/work.json", "live/aaaaaaaaaaaa.out", "labels.json", "control.jsonl", "lock", archive):
            (folder / pipe).parent.mkdir(parents=True, exist_ok=True)
            (folder / pipe).unlink(missing_ok=True)
            os.mkfifo(folder / pipe)
        told = get(client, f"/runs/{name}/live")
        assert told["work"] is None and "aaaaaaaaaaaa" not in [tail["node_id"] for tail in told["tails"]]
        assert get(client, f"/runs/{name}")["title"] == ""
        assert get(client, f"/runs/{name}/nodes/{node}")["files"] == []
        assert name in [line["run"] for line in get(client, "/runs")]
    finally:
        shutil.rmtree(folder)


def test_a_list_that_did_not_change_is_not_sent_again(client, held):
    first = client.get("/api/runs")
    assert client.get("/api/runs", headers={"if-none-match": first.headers["etag"]}).status_code == 304
    client.patch(f"/api/runs/{PACKING}/labels", json={"note": "look again"})
    again = client.get("/api/runs", headers={"if-none-match": first.headers["etag"]})
    assert again.status_code == 200 and "look again" in again.text


def test_labels_are_the_users_own_words(client, project):
    path = f"/api/runs/{CHESS}/labels"
    assert client.patch(path, json={"title": "  a\x1b[2J title ", "add": ["paper", "draft"]}).status_code == 200
    assert client.patch(path, json={"remove": ["draft"], "archived": True}).json() == {
        "title": "a\ufffd[2J title", "note": "", "tags": ["paper"], "archived": True,
    }  # fmt: skip
    refused = client.patch(path, json={"add": ["two words"]})
    assert refused.status_code == 409 and "two words" in refused.json()["detail"]
    line = next(line for line in get(client, "/runs") if line["run"] == CHESS)
    assert line["tags"] == ["paper"] and line["archived"] and get(client, f"/runs/{CHESS}")["title"] == line["title"]
    client.patch(path, json={"title": "", "remove": ["paper"], "archived": False})


def test_runs_are_removed_unless_one_is_held(tmp_path):
    for run in ("one", "two"):
        competition(tmp_path / "logs", 2, run=run).close()
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1") as client:
        lock = (tmp_path / "logs/two/run.lock").open("r+")
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused = client.delete("/api/runs", params={"run": ["one", "two"]})
        assert refused.status_code == 409 and "two" in refused.json()["detail"] and len(get(client, "/runs")) == 2
        lock.close()
        assert client.delete("/api/runs", params={"run": ["one"]}).status_code == 200
        assert [line["run"] for line in get(client, "/runs")] == ["two"] and not (tmp_path / "logs/one").exists()
        assert client.delete("/api/runs", params={"run": ["../two"]}).status_code == 404
        assert client.delete("/api/runs", params={"run": ["two"]}, headers={"origin": "http://evil"}).status_code == 403


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("run", ["%2e%2e", "%2e%2e%2f%2e%2e", "no-such-run", ".dashboard", "a/../b", "x" * 128])
def test_an_unknown_run_is_404(client, run):
    assert client.get(f"/api/runs/{run}").status_code == 404


def test_a_node_id_is_hex_and_known(client):
    assert client.get(f"/api/runs/{COMPETITION}/nodes/%2e%2e").status_code in (404, 422)
    wrong = client.get(f"/api/runs/{COMPETITION}/nodes/zzzz")
    assert wrong.status_code == 422 and wrong.json()["detail"].startswith("node_id: "), "one line"
    assert client.get(f"/api/runs/{COMPETITION}/nodes/2").status_code == 200, "a step"
    assert client.get(f"/api/runs/{COMPETITION}/nodes/ffffffffffff").status_code == 404


def test_control_of_a_run_that_nobody_holds_is_409(client):
    node = get(client, f"/runs/{COMPETITION}/nodes", limit=1)["nodes"][0]["node_id"]
    assert client.post(f"/api/runs/{COMPETITION}/notes", json={"text": "try trees"}).status_code == 409
    assert client.post(f"/api/runs/{COMPETITION}/nodes/{node}/mark", json={"mark": "banned"}).status_code == 409
    assert client.post(f"/api/runs/{COMPETITION}/stop").status_code == 409


def test_notes_and_marks_of_a_running_search_are_lines_of_its_control_file(client, held):
    node = get(client, f"/runs/{COMPETITION}/nodes", limit=1)["nodes"][0]["node_id"]
    noted = client.post(f"/api/runs/{COMPETITION}/notes", json={"text": "try\ntrees ✓"})
    assert noted.status_code == 202 and "written by rules" in noted.json()["detail"]
    for mark in ("pinned", "banned", "none"):
        assert client.post(f"/api/runs/{COMPETITION}/nodes/{node}/mark", json={"mark": mark}).status_code == 202
    lines = [json.loads(line) for line in (held.parent / "control.jsonl").read_text().splitlines()]
    assert lines[0] == {"kind": "note", "text": "try\ntrees ✓"}
    assert [line["kind"] for line in lines[1:]] == ["pin", "ban", "free"] and lines[1]["node_id"] == node
    assert client.post(f"/api/runs/{COMPETITION}/resume").status_code == 409


def test_a_held_run_is_live(client, held):
    assert get(client, f"/runs/{COMPETITION}")["status"] == "running"
    line = next(line for line in get(client, "/runs") if line["run"] == COMPETITION)
    assert line["live"] and line["status"] == "running"


def test_the_list_follows_a_run_that_grows(tmp_path):
    made = competition(tmp_path / "logs", 3, run="growing")
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1") as client:
        assert [get(client, "/runs")[0]["steps"] for _ in range(2)] == [3, 3]
        made.step()
        assert get(client, "/runs")[0]["steps"] == 4
    made.close()


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_a_post_of_another_origin_is_refused(client, held, headers):
    answer = client.post(f"/api/runs/{COMPETITION}/notes", json={"text": "x"}, headers=headers)
    assert answer.status_code == 403
    assert not (held.parent / "control.jsonl").exists()


def test_our_own_origin_is_accepted(client, held):
    headers = {"origin": "http://127.0.0.1:8008"}
    assert client.post(f"/api/runs/{COMPETITION}/notes", json={"text": "x"}, headers=headers).status_code == 202


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8008", ""])
def test_a_foreign_host_name_gets_nothing(client, host):
    assert client.get("/api/runs", headers={"host": host}).status_code == 403


def test_a_form_post_is_not_json(client, held):
    body = '{"text":"x"}'
    answer = client.post(f"/api/runs/{COMPETITION}/notes", content=body, headers={"content-type": "text/plain"})
    assert answer.status_code == 422


def test_a_token_guards_everything_but_the_page(project):
    with TestClient(create_app(project, "s3cret-token"), base_url="http://127.0.0.1", follow_redirects=False) as client:
        assert client.get("/api/runs").status_code == 401
        assert client.get("/api/health").json()["ok"] is True, "open to whoever watches over the server"
        assert client.post("/api/runs", json={"problem": "tsp"}).status_code == 401
        assert client.get("/api/runs", headers={"authorization": "Bearer wrong"}).status_code == 401
        assert client.get("/api/runs", headers={"authorization": "Bearer s3cret-token"}).status_code == 200
        assert "set-cookie" not in client.get("/?token=wrong").headers
        answer = client.get("/?token=s3cret-token")
        assert answer.status_code == 303 and answer.headers["location"] == "/"
        assert "HttpOnly" in answer.headers["set-cookie"] and "SameSite=Strict" in answer.headers["set-cookie"]
        assert client.get("/api/runs").status_code == 200, "the cookie is enough"


# ---------------------------------------------------------------- starting


FAKE_MAIN = """
import fcntl, os, signal, sys, time
signal.signal(signal.SIGTERM, signal.default_int_handler)  # as a run
sys.path.insert(0, {app!r})
from pathlib import Path
from core.storage.repository import RunStore
print("arguments", sys.argv[1:], flush=True)
folder = Path("logs/started-run")
folder.mkdir(parents=True, exist_ok=True)
store = RunStore(folder)
try:
    store.put_fact("status", "running")
    lock = open(folder / "run.lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    lock.write(str(os.getpid())); lock.flush()
    time.sleep(200)
except KeyboardInterrupt:
    store.put_fact("status", "interrupted")
    sys.exit(130)
"""


def wait_for(check, seconds=60.0):
    import time

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := check():
            return found
        time.sleep(0.05)
    raise AssertionError("did not happen in time")


def test_a_run_is_started_found_and_stopped_as_a_child_process(tmp_path):
    main = tmp_path / "main.py"
    main.write_text(FAKE_MAIN.format(app=str(Path(__file__).resolve().parents[2])))
    with TestClient(create_app(tmp_path, main=main), base_url="http://127.0.0.1") as client:
        request = {"problem": "competition", "name": "diabetes", "llm": "rules", "max_steps": 3, "seed": 7}
        answer = client.post("/api/runs", json=request)
        assert answer.status_code == 202, answer.text
        launch = answer.json()["launch"]
        found = wait_for(lambda: (s := get(client, f"/launches/{launch}"))["run"] and s)
        assert found["run"] == "started-run" and found["state"] == "running"
        assert "'run', '--problem=competition', '--llm=rules', '--problem.name=diabetes'" in found["output"]
        assert "'--search.max_steps=3', '--project.seed=7'" in found["output"]
        pid = int((tmp_path / "logs/started-run/run.lock").read_text())
        assert os.getsid(pid) == pid, "a session of its own: Ctrl-C on the server does not reach it"
        assert client.post("/api/runs/started-run/stop").status_code == 202
        ended = wait_for(lambda: (s := get(client, f"/launches/{launch}"))["state"] == "ended" and s)
        assert ended["exit_code"] == 130
        assert get(client, "/runs/started-run")["status"] == "interrupted"
        again = client.post("/api/runs/started-run/resume")
        assert again.status_code == 202 and again.json()["run"] == "started-run"
        launch = again.json()["launch"]
        wait_for(lambda: "['resume', 'started-run']" in get(client, f"/launches/{launch}")["output"])
        wait_for(lambda: get(client, "/runs/started-run")["live"])
        assert client.post("/api/runs/started-run/stop").status_code == 202
        wait_for(lambda: get(client, f"/launches/{launch}")["state"] == "ended")


@pytest.mark.parametrize(
    "request_",
    [
        {"problem": "../../etc/passwd"},
        {"problem": "competition", "name": "--execution.sandbox=none"},
        {"problem": "competition", "name": "../x"},
        {"problem": "competition", "llm": "rules", "execution": {"sandbox": "none"}},
        {"problem": "competition", "max_steps": "1; rm"},
        {"problem": "competition", "options": {"num_drafts": 3}},
        {"problem": "competition", "policy": "../x"},
        {"problem": "competition", "policy": "mcts", "options": {"num_drafts": "../x"}},
        {"problem": "competition", "policy": "mcts", "options": {"x=1 y": 3}},
        {},
    ],
)
def test_nothing_but_choices_and_numbers_reaches_the_command_line(client, request_):
    assert client.post("/api/runs", json=request_).status_code == 422


ECHO = "import sys\nprint(sys.argv[1:])\n"


def _words(client, answer) -> list[str]:
    """The command line of what was started."""
    assert answer.status_code == 202, answer.text
    launch = answer.json()["launch"]
    wait_for(lambda: get(client, f"/launches/{launch}")["state"] == "ended", 20)
    return json.loads(get(client, f"/launches/{launch}")["output"].replace("'", '"'))


def test_tables_and_evaluators_of_the_users_own_are_found_looked_at_and_started(tmp_path):
    for name, text in (("house/train.csv", "id;area;price\n1;80;3\n"), ("house/test.csv", "id;area\n2;90\n"),
                       ("mine/evaluator.py", ""), ("mine/program.py", ""),
                       (".hidden/train.csv", "a\n"), ("logs/train.csv", "a\n")):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    main = tmp_path / "echo.py"
    main.write_text(ECHO)
    with TestClient(create_app(tmp_path, main=main), base_url="http://127.0.0.1") as client:
        found = get(client, "/own")
        assert [(f["name"], f["target"]) for f in found["data"]] == [("house", "price")]
        files = {"files": ["evaluator.py", "program.py"], "program": "program.py", "evaluator": "evaluator.py"}
        assert found["scripts"] == [{"name": "mine", **files}]
        assert found["data"][0]["tables"][0]["head"] == [["1", "80", "3"]]
        chosen = {"problem": "competition", "folder": "house", "target": "price", "metric": "rmse"}
        words = _words(client, client.post("/api/runs", json=chosen))
        assert f"--data.dir={tmp_path / 'house'}" in words and "--data.target=price" in words
        graded = {**chosen, "metric": "qwk", "classes": "low, mid,high", "split": "time:id"}
        words = _words(client, client.post("/api/runs", json=graded))
        assert {"--data.classes=low, mid,high", "--data.split=time:id"} <= set(words)
        script = {"problem": "script", "folder": "mine", "metric": "accuracy", "direction": "min"}
        words = _words(client, client.post("/api/runs", json=script))
        told = {f"--problem.{part}={tmp_path / 'mine' / part}.py" for part in ("program", "evaluator")}
        assert told | {"--problem.metric=accuracy", "--problem.direction=min"} <= set(words)
        for wrong in ({"folder": None}, {"folder": "house"}, {"program": "other.py"}, {"evaluator": "train.csv"}):
            assert client.post("/api/runs", json={**script, **wrong}).status_code == 409, wrong
        assert client.post("/api/runs", json={**script, "program": "../mine/program.py"}).status_code == 422
        for wrong in ({"folder": "../house"}, {"folder": str(tmp_path)}, {"folder": ".hidden"}, {"target": "nothing"},
                      {"split": "group:nothing"}, {"classes": "${env:HOME},b"}):  # fmt: skip
            assert client.post("/api/runs", json={**chosen, **wrong}).status_code == 409, wrong
        for wrong in ({"split": "shell"}, {"split": "group:"}, {"classes": ""}):
            assert client.post("/api/runs", json={**chosen, **wrong}).status_code == 422, wrong
        for known in ({"split": "random"}, {"classes": "a,b"}):
            assert client.post("/api/runs", json={"problem": "tsp", **known}).status_code == 409
        assert client.post("/api/runs", json={"problem": "tsp", "folder": "house"}).status_code == 409


@pytest.mark.parametrize("metric", ["rmse", "map@5", "quantile@0.9"])
def test_a_metric_with_a_number_may_be_chosen(metric):
    assert metric in presets().metrics and StartRequest(problem="competition", metric=metric).metric == metric


def test_our_own_sources_are_not_the_users(tmp_path):
    names = [script.name for script in own.own(own.ROOT).scripts]
    assert "examples/openevolve/minimise" in names and "." not in names
    assert not [name for name in names if name.split("/")[0] in ("core", "problems", "cli", "tests")]
    for file in ("program.py", "evaluator.py"):
        (tmp_path / file).write_text("")
    (found,) = own.own(tmp_path).scripts
    assert (found.name, found.program, found.evaluator) == (".", "program.py", "evaluator.py")


def test_a_run_is_resumed_with_more(tmp_path):
    competition(tmp_path / "logs", 2, run="ended").close()
    main = tmp_path / "echo.py"
    main.write_text(ECHO)
    with TestClient(create_app(tmp_path, main=main), base_url="http://127.0.0.1") as client:
        answer = client.post("/api/runs/ended/resume", json={"max_steps": 50, "usd": 1.5})
        assert _words(client, answer) == ["resume", "ended", "--search.max_steps=50", "--budget.usd=1.5"]
        assert _words(client, client.post("/api/runs/ended/resume")) == ["resume", "ended"]
        assert client.post("/api/runs/ended/resume", json={"max_steps": "$(id)"}).status_code == 422
        fewer = client.post("/api/runs/ended/resume", json={"max_steps": 1})
        told = fewer.json()["detail"]
        assert fewer.status_code == 409 and told.startswith("max_steps=1: the run has begun ") and "allowed: " in told


def test_presets_are_the_files_that_are_there(client):
    found = get(client, "/presets")
    assert "competition" in found["problems"] and found["llms"][0] == "rules" and "mcts" in found["policies"]
    assert "diabetes" in found["problems"]["competition"]
    assert found["defaults"]["competition"]["seconds"] == 43_200, "what a run gets that asks for nothing"
    assert client.post("/api/runs", json={"problem": "no_such_preset"}).status_code == 409


def test_the_form_learns_policies_and_their_options(client):
    found = get(client, "/presets")
    islands = {option["name"]: option for option in found["policy_options"]["islands"]}
    assert islands["per_island"]["kind"] == "integer" and islands["per_island"]["minimum"] == 1
    assert islands["crossover_prob"]["maximum"] == 1 and "two parents" in islands["crossover_prob"]["meaning"]
    assert islands["selection"]["choices"] == ["tournament", "rank", "softmax"]
    assert islands["migration"]["choices"] == ["global", "ring", "all"] and "grid" not in islands


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"policy": "no_such"}, "unknown policy 'no_such'"),
        ({"policy": "islands", "options": {"grid": 1}}, "'grid' is no option of islands that a page may set"),
        ({"policy": "islands", "options": {"selection": "best"}}, "allowed: tournament, rank, softmax"),
        ({"policy": "islands", "options": {"per_island": 0}}, "per_island=0: allowed: whole number >= 1"),
    ],
)
def test_what_a_policy_does_not_take_is_refused_before_a_process_starts(client, wrong, told):
    answer = client.post("/api/runs", json={"problem": "tsp", **wrong})
    assert answer.status_code == 409 and told in answer.json()["detail"]


POLICY = """\
from core.search.three_phase import ThreePhaseOptions, ThreePhasePolicy
from utils.strategies import PolicySpec

POLICY = PolicySpec(ThreePhaseOptions, lambda options, deps: ThreePhasePolicy(options), ("draft",))
"""


def test_a_policy_of_a_plug_in_folder_is_offered_and_started(tmp_path):
    (tmp_path / "more" / "policies").mkdir(parents=True)
    (tmp_path / "more" / "policies" / "mine.py").write_text(POLICY)
    main = tmp_path / "main.py"
    main.write_text(FAKE_MAIN.format(app=str(Path(__file__).resolve().parents[2])))
    app = create_app(tmp_path, main=main, plugins=[str(tmp_path / "more")])
    with TestClient(app, base_url="http://127.0.0.1") as client:
        found = get(client, "/presets")
        assert "mine" in found["policies"] and len(found["policy_options"]["mine"]) == 4
        request = {"problem": "tsp", "policy": "mine", "options": {"num_drafts": 2, "debug_prob": 0.5}}
        launch = client.post("/api/runs", json=request).json()["launch"]
        wait_for(lambda: (s := get(client, f"/launches/{launch}"))["run"] and s)
        told = get(client, f"/launches/{launch}")["output"]
        assert "'--search.policy=mine', '--search.mine.num_drafts=2', '--search.mine.debug_prob=0.5'" in told
        assert f"'--plugins={tmp_path / 'more'}'" in told
        assert client.post("/api/runs/started-run/stop").status_code == 202
        wait_for(lambda: get(client, f"/launches/{launch}")["state"] == "ended")


# ---------------------------------------------------------------- the page and the document


def test_without_a_build_the_page_says_how_to_build_it(project, tmp_path):
    with TestClient(create_app(project, dist=tmp_path), base_url="http://127.0.0.1") as client:
        answer = client.get("/")
        assert answer.status_code == 503 and "make dashboard" in answer.text and "npm ci" in answer.text
        assert client.get("/api/health").json()["page_built"] is False
        assert client.get("/assets/..%2f..%2fpackage.json").status_code == 404


def test_the_replay_is_announced(project):
    app = create_app(project, replay=ReplayAt(run=CHESS, speed=20))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert get(client, "/health")["replay"] == {"run": CHESS, "speed": 20}


def test_the_api_page_needs_no_other_server(client):
    page = client.get("/api").text
    assert "/api/runs/{run}/snapshot" in page and "http://" not in page and "https://" not in page


def test_importing_the_app_loads_no_numerics():
    import subprocess

    heavy = "[m for m in ('pandas', 'sklearn', 'numba', 'openai') if m in sys.modules]"
    code = f"import sys; import dashboard.server.app; print({heavy})"
    root = Path(__file__).resolve().parents[2]
    out = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=240, check=True
    )
    assert out.stdout.strip() == "[]"


def test_a_snapshot_holds_the_newest_warnings_only(tmp_path):
    made = competition(tmp_path / "logs", 2, run="warned")
    made.store.append([Warned(text=f"wait {n}") for n in range(WARNINGS + 50)])
    made.close()
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8008") as client:
        snapshot = get(client, "/runs/warned/snapshot")
        told = [event["text"] for event in snapshot["events"] if event["type"] == "warning"]
        assert told == [f"wait {n}" for n in range(50, WARNINGS + 50)]
        assert len([event for event in snapshot["events"] if event["type"] == "node.committed"]) == 2


@pytest.mark.long
def test_the_winners_files_of_a_killed_run_are_written_when_asked_for(cli):
    child = cli.start("--problem=bin_packing", "problem.name=u120", "--llm=rules", "search.max_steps=5000")
    with TestClient(create_app(cli.folder), base_url="http://127.0.0.1") as client:
        wait_for(lambda: any((run["steps"] or 0) > 2 for run in get(client, "/runs")), seconds=60)
        path = f"/api/runs/{cli.run_dir.name}/solution"
        assert client.post(path).status_code == 409, "it writes them at its end"
        child.kill()
        child.wait()
        shutil.rmtree(cli.run_dir / "best_solution", ignore_errors=True)
        assert client.get(path).json() == []
        assert client.post(path).json()["accepted"]
        assert "solution.py" in {file["name"] for file in client.get(path).json()}
        assert client.post("/api/runs/nobody/solution").status_code == 404


def test_a_service_is_watched_by_its_heads_alone(project):
    """Docker's and others' checks of health ask with HEAD, and were refused (405) all but the page's own files."""
    with serving(project) as (address, _), closing(HTTPConnection(address, timeout=30)) as connection:
        for path, status in (("/api/health", 200), ("/api/runs", 200), ("/api/runs/unknown", 404), ("/", None)):
            connection.request("GET", path)
            whole = connection.getresponse()
            length = len(whole.read())
            connection.request("HEAD", path)
            head = connection.getresponse()
            assert (head.status, head.read(), head.getheader("content-length")) == (whole.status, b"", str(length)), (
                path
            )
            assert status in (None, whole.status)
