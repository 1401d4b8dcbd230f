"""Sweeps over the API: the list, a table with its runs, and what is refused."""

from __future__ import annotations

import fcntl
import shutil
import time

import pytest
from starlette.testclient import TestClient
from support.synthetic_runs import competition

from core.storage.held import lock_holder
from core.storage.reader import RunReader
from dashboard.server.app import create_app
from reports.sweeps.plan import Plan, note_of, run_of, sweep_folder
from runs.run_folder import hold

SETTINGS = (("search.policy=three_phase",), ("search.policy=mcts",))


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """A sweep of two settings and two seeds, of which one run was removed."""
    project = tmp_path_factory.mktemp("project")
    logs = project / "logs"
    made = competition(logs, 8, run="run-1")
    made.finish()
    for name in ("run-2", "run-3"):
        shutil.copytree(logs / "run-1", logs / name)
    plan = Plan(words=("--problem.name=ames",), settings=SETTINGS, seeds=(1, 2))
    folder = sweep_folder(logs, "policies")
    plan.keep(folder)
    for cell, run in zip(plan.cells, ("run-1", "run-2", "run-3", "gone"), strict=True):
        (folder / f"{cell.name}.run").write_text(run)
    (logs / "sweeps" / "broken").mkdir()
    (logs / "sweeps" / "broken" / "plan.json").write_text("{")
    with TestClient(create_app(project), base_url="http://127.0.0.1:8008") as client:
        yield client


def test_sweeps_are_listed_with_what_has_begun(client):
    (line,) = client.get("/api/sweeps").json()
    assert (line["name"], line["settings"], line["seeds"], line["begun"]) == ("policies", 2, 2, 4)
    assert (line["status"], line["problem"]) == ("finished", "competition/diabetes") and line["started_at"]
    assert line["runs"][1] == {"run": "run-2", "setting": list(SETTINGS[1]), "name": "policy=mcts", "seed": 1}


def test_a_sweep_is_its_table_and_its_runs(client):
    table = client.get("/api/sweeps/policies").json()
    assert [cell["run"] for cell in table["cells"]] == ["run-1", "run-2", "run-3", None]
    assert [cell["status"] for cell in table["cells"]] == ["finished"] * 3 + ["removed"]
    three, mcts = table["rows"]
    assert (three["runs"], mcts["runs"], mcts["pairs"], mcts["verdict"]) == (2, 1, 1, "too few seeds")
    assert mcts["gain"] == 0 and mcts["rival"] == list(SETTINGS[0]) and three["rival"] == list(SETTINGS[1])


def test_a_sweep_is_stopped_while_a_run_of_it_runs_and_removed_with_its_runs(tmp_path):
    logs = tmp_path / "logs"
    made = competition(logs, 4, run="run-1")
    made.finish()
    plan = Plan(words=(), settings=SETTINGS, seeds=(1,))
    folder = sweep_folder(logs, "mine")
    plan.keep(folder)
    (folder / f"{plan.cells[0].name}.run").write_text("run-1")
    lock = logs / "run-1" / "run.lock"
    lock.write_text("1\n")  # no process that a signal reaches: the run is asked by a line
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8008") as client:
        assert client.post("/api/sweeps/mine/stop").status_code == 409, "none of its runs is running"
        with lock.open("r+") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            assert client.get("/api/sweeps").json()[0]["status"] == "running"
            assert client.post("/api/sweeps/mine/stop").status_code == 202
            assert '"stop"' in (logs / "run-1" / "control.jsonl").read_text()
            assert client.delete("/api/sweeps/mine").status_code == 409 and folder.is_dir()
        assert client.delete("/api/sweeps/mine").status_code == 200
        assert client.get("/api/sweeps").json() == [] and not folder.exists() and not (logs / "run-1").exists()
        assert client.delete("/api/sweeps/..%2Fx").status_code in (404, 422)


def test_a_sweep_is_stopped_between_two_of_its_runs(cli, toy, eventually):
    """By its own process, which tells its runs; here before the first has begun to write."""
    child = cli.start("sweep", "--seeds=1..9", "--vary=search.policy=mcts,three_phase", "--name=mine", *toy(1))
    lock = cli.folder / "logs" / "sweeps" / "mine" / "run.lock"
    eventually(lambda: lock_holder(lock), 60)
    with TestClient(create_app(cli.folder), base_url="http://127.0.0.1:8008") as client:
        assert client.post("/api/sweeps/mine/stop").status_code == 202
        assert child.wait(60) == 130
        assert client.post("/api/sweeps/mine/stop").status_code == 409
        (line,) = client.get("/api/sweeps").json()
    assert line["status"] in ("interrupted", "not begun") and line["begun"] < 18


def test_a_sweep_is_named_and_its_seeds_begin_where_it_is_told(tmp_path):
    main = tmp_path / "echo.py"
    main.write_text("import sys\nprint(sys.argv[1:])\n")
    (tmp_path / "logs" / "sweeps" / "taken").mkdir(parents=True)
    asked = {"problem": "tsp", "policies": ["mcts"], "seeds": 3, "seed": 7, "sweep": "mine"}
    with TestClient(create_app(tmp_path, main=main), base_url="http://127.0.0.1:8008") as client:
        answer = client.post("/api/sweeps", json=asked)
        assert answer.status_code == 202 and answer.json()["name"] == "mine", answer.text
        until = time.monotonic() + 60
        while (told := client.get(f"/api/launches/{answer.json()['launch']}").json())["state"] != "ended":
            assert time.monotonic() < until
            time.sleep(0.05)
        assert "--name=mine" in told["output"] and "--seeds=7..9" in told["output"]
        assert "project.seed" not in told["output"]
        assert client.post("/api/sweeps", json={**asked, "sweep": "taken"}).status_code == 409
        assert client.post("/api/sweeps", json={**asked, "sweep": "../up"}).status_code == 422


def test_a_sweep_goes_on_between_two_of_its_runs_and_is_interrupted_without_its_process(tmp_path):
    plan = Plan(words=(), settings=SETTINGS, seeds=(1,))
    folder = sweep_folder(tmp_path / "logs", "mine")
    plan.keep(folder)
    made = competition(tmp_path / "logs", 4, run="run-1")
    made.finish()
    (folder / f"{plan.cells[0].name}.run").write_text("run-1")
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8008") as client:
        with hold(folder):
            assert client.get("/api/sweeps").json()[0]["status"] == "running"
            assert client.get("/api/sweeps/mine").json()["running"], "its page offered to delete it, and not to stop it"
            assert client.delete("/api/sweeps/mine").status_code == 409 and folder.is_dir()
        assert client.get("/api/sweeps").json()[0]["status"] == "interrupted"
        assert not client.get("/api/sweeps/mine").json()["running"]
        shutil.rmtree(tmp_path / "logs" / "run-1")
        assert client.get("/api/sweeps").json()[0]["status"] == "interrupted", (
            "it has begun, though its run was removed"
        )


@pytest.mark.parametrize("name", ["nothing", "broken", "..%2F..%2Fetc", "a" * 70 + "%00"])
def test_what_is_no_sweep_is_not_found(client, name):
    answer = client.get(f"/api/sweeps/{name}")
    assert answer.status_code in (404, 422), answer.text


def test_a_project_without_sweeps_has_an_empty_list(tmp_path):
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8008") as client:
        assert client.get("/api/sweeps").json() == []


@pytest.mark.long
def test_a_sweep_is_started_by_choices_and_numbers_alone(tmp_path, eventually, monkeypatch):
    monkeypatch.setenv("SWARM_EVO__PROBLEM__OPTIONS__CITIES", "12")
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1") as client:
        wanted = {"problem": "tsp", "max_steps": 1, "policies": ["three_phase", "mcts"], "seeds": 1, "control": True}
        answer = client.post("/api/sweeps", json=wanted)
        assert answer.status_code == 202, answer.text
        launch, name = answer.json()["launch"], answer.json()["name"]
        eventually(lambda: client.get(f"/api/launches/{launch}").json()["state"] == "ended", 120)
        table = client.get(f"/api/sweeps/{name}").json()
        assert [row["setting"] for row in table["rows"]] == [
            ["search.policy=three_phase"], ["search.policy=mcts"], ["search.control=1"]
        ]  # fmt: skip
        assert {cell["status"] for cell in table["cells"]} == {"finished"}


@pytest.mark.parametrize(
    ("more", "code"),
    [({"policies": []}, 422), ({"policies": ["none_such"]}, 409), ({"policies": ["mcts"], "seed": -1}, 422),
     ({"policies": ["mcts"], "policy": "mcts"}, 422), ({"policies": ["mcts"], "seeds": 0}, 422),
     ({"policies": ["a,b"]}, 422)],
)  # fmt: skip
def test_a_sweep_that_cannot_be_is_refused(client, more, code):
    assert client.post("/api/sweeps", json={"problem": "tsp", **more}).status_code == code


@pytest.fixture
def two_runs(tmp_path):
    """A sweep of two settings and one seed that has ended: its folder, its plan."""
    made = competition(tmp_path / "logs", 4, run="run-1")
    made.finish()
    shutil.copytree(tmp_path / "logs" / "run-1", tmp_path / "logs" / "run-2")
    plan = Plan(words=(), settings=SETTINGS, seeds=(1,))
    folder = sweep_folder(tmp_path / "logs", "mine")
    plan.keep(folder)
    for cell, run in zip(plan.cells, ("run-1", "run-2"), strict=True):
        note_of(folder, cell).write_text(run)
    return folder, plan


def test_a_run_that_cannot_be_read_hides_neither_its_sweep_nor_the_others(tmp_path, two_runs, cli):
    """Neither a table nor the list of all sweeps came, for one damaged file."""
    (tmp_path / "logs" / "run-2" / "run.db").write_bytes(b"no database " * 500)
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8008") as client:
        (line,) = client.get("/api/sweeps").json()
        assert (line["status"], [run["run"] for run in line["runs"]]) == ("interrupted", ["run-1", "run-2"])
        table = client.get("/api/sweeps/mine").json()
        assert [(cell["run"], cell["status"]) for cell in table["cells"]] == [
            ("run-1", "finished"), ("run-2", "unreadable"),
        ]  # fmt: skip
        assert [row["runs"] for row in table["rows"]] == [1, 0] and table["problem"] == "competition/diabetes"
    shown = cli.here("sweep", "show", "mine", f"--project.dir={tmp_path}")
    assert shown.code == 0 and "not finished: 1 unreadable" in shown.out


def test_a_list_of_sweeps_opens_no_store_of_a_run_that_did_not_change(tmp_path, two_runs, monkeypatch):
    """The page asks for it every ten seconds; a sweep may have thousands of runs, which were opened twice each."""
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8008") as client:
        first = client.get("/api/sweeps").json()
        monkeypatch.setattr(RunReader, "__init__", lambda *_: pytest.fail("a store was opened"))
        assert client.get("/api/sweeps").json() == first and len(first[0]["runs"]) == 2


def test_the_note_of_a_cell_is_a_name_and_never_a_path(tmp_path, two_runs):
    """A stranger's folder showed a run of another project as its own."""
    folder, plan = two_runs
    shutil.copytree(tmp_path / "logs" / "run-1", tmp_path / "elsewhere" / "run-9")
    note_of(folder, plan.cells[1]).write_text("../elsewhere/run-9")
    assert run_of(folder, plan.cells[1]) is None
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8008") as client:
        assert [cell["run"] for cell in client.get("/api/sweeps/mine").json()["cells"]] == ["run-1", None]


def test_a_sweep_that_is_removed_while_all_are_listed_is_left_out(tmp_path, two_runs, monkeypatch):
    folder, _ = two_runs
    read = Plan.read
    monkeypatch.setattr(Plan, "read", lambda path: (shutil.rmtree(path), read(path)))
    with TestClient(create_app(tmp_path), base_url="http://127.0.0.1:8008") as client:
        assert client.get("/api/sweeps").json() == [] and not folder.exists()
