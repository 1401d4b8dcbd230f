"""What a run says of itself while it goes on: one numbering, who leads, and no score that is none."""

from __future__ import annotations

import csv
import json
import re
import signal

import pytest
from fastapi.testclient import TestClient
from support.command_line import PLUGINS

import swarm_evo
from core.storage.reader import RunReader
from dashboard.server.app import create_app

pytestmark = pytest.mark.usefixtures("forked_children")

STEP = re.compile(r"^step (\d+)/5  ([0-9a-f]{6}) ", re.MULTILINE)


@pytest.mark.long
def test_a_node_has_one_number_on_every_surface(cli, toy):
    """A program of the user stands before the first step, and is none: no surface gives it a number."""
    (cli.folder / "own.py").write_text("x = 7\n")
    ran = cli.here(*toy(5, "initial=[own.py]", "logging.report=true", "search.batch=1"))
    assert ran.code == 0, ran.err
    nodes = {row["node_id"]: row["step"] for row in cli.show()["nodes"]}
    assert list(nodes.values()) == [None, 1, 2, 3, 4, 5]
    made = {node_id: step for node_id, step in nodes.items() if step}
    assert STEP.findall(ran.out) == [(str(step), node_id[:6]) for node_id, step in made.items()]
    folder = cli.run_dir
    assert {row["node_id"]: row["step"] for row in json.loads((folder / "metrics.json").read_text())} == nodes
    with (folder / "metrics.csv").open() as file:
        assert {row["node_id"]: int(row["step"]) if row["step"] else None for row in csv.DictReader(file)} == nodes
    told = re.findall(r"step (\d+): ([0-9a-f]{12}) ", (folder / "system.log").read_text())
    assert {node_id: int(step) for step, node_id in told} == made
    drawn = re.findall(r"<title>(?:step (\d+), )?\w+ ([0-9a-f]{12}): ", (folder / "report.html").read_text())
    assert drawn and all(nodes[node_id] == (int(step) if step else None) for step, node_id in drawn)
    shown = cli.here("show", "latest").out
    assert all(re.search(rf"{step or ''} +│ +{node_id}", shown) for node_id, step in nodes.items()), shown
    exported = cli.here("export", "latest", "--format=json").json
    assert {row["node_id"]: row["step"] for row in exported} == nodes
    assert {node_id: cli.node(node_id)["step"] for node_id in nodes} == nodes
    with TestClient(create_app(cli.folder), base_url="http://127.0.0.1:8008") as client:
        page = client.get(f"/api/runs/{folder.name}/nodes").json()
    assert {row["node_id"]: row["step"] for row in page["nodes"]} == nodes


def test_python_counts_as_the_rest_does(tmp_path):
    seen = []
    result = swarm_evo.search(
        budget={"steps": 4}, project_dir=tmp_path, on_step=seen.append, problem__kind="toy",
        problem__plugins=str(PLUGINS), logging__report=False,
    )  # fmt: skip
    assert {step.node_id: step.step for step in seen} == {row["node_id"]: row["step"] for row in result.facts["nodes"]}


def test_a_baseline_that_leads_is_said_to_lead_while_the_run_goes_on(cli, toy, eventually):
    """No candidate may be above 0, the baseline is 0, and 2 is the best: it leads from the first step to the end."""
    child = cli.start(*toy(1000, seconds=0.1, refuse=0))
    eventually(lambda: cli.runs and _scored(cli.run_dir), 60)
    running = cli.here("show", "latest", "--json").json
    with TestClient(create_app(cli.folder), base_url="http://127.0.0.1:8008") as client:
        page = client.get(f"/api/runs/{cli.run_dir.name}").json()
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    words = "nothing beat the baseline zero: it is the best on validation, 2 distance (lower is better)"
    assert running["status"] == "running" and words in running["verdict"]["text"], running["verdict"]
    assert words in page["conclusion"]["text"] and page["conclusion"]["against"] == "the baseline zero"
    assert "best 2 by the baseline zero, " in out and " by the search" in out

    fewest = re.search(r"allowed: (\d+) or more", cli.here("resume", "latest", "search.max_steps=1").line)
    ended = cli.here("resume", "latest", f"search.max_steps={int(fewest[1]) + 1}")
    assert "best 2 by the baseline zero, " in ended.out, "also where an earlier process scored it"
    assert "Nothing beat the baseline zero: it is still the best on the parts that choose, 2 distance" in ended.out


def _scored(folder):
    if not (folder / "metrics.json").is_file():
        return False
    with RunReader(folder) as reader:
        return reader.best() is not None and reader.fact("baselines")


SCRIPT = "def evaluate(path):\n    return {'combined_score': float('VALUE')}\n"
JUDGES = {
    "script": ["--problem=script", "problem.program=program.py", "problem.evaluator=evaluator.py"],
    "command": ["--problem=command", "problem.source=program.py", "problem.eval=echo score: VALUE"],
}


@pytest.mark.parametrize(("kind", "value"), [("script", "nan"), ("script", "inf"), ("command", "nan")])
def test_an_evaluator_that_gives_no_number_ends_the_run_in_one_line(cli, kind, value):
    (cli.folder / "evaluator.py").write_text(SCRIPT.replace("VALUE", value))
    (cli.folder / "program.py").write_text("# EVOLVE-BLOCK-START\nA = 1\n# EVOLVE-BLOCK-END\n")
    metric = ["problem.metric=score"] if kind == "command" else []
    words = [word.replace("VALUE", value) for word in JUDGES[kind]]
    ran = cli.here(*words, *metric, "problem.direction=max", "search.max_steps=3")
    assert ran.code == 2, ran.out
    assert (
        "the first program, cannot be scored: " in ran.line and value in ran.line and "nothing was searched" in ran.line
    )
    assert ran.line.startswith("swarm-evo: your program, ") and "so the run was not kept" in ran.line
    assert not [path for path in (cli.folder / "logs").iterdir() if path.is_dir()]


def no_score(function):
    return float("nan")


def test_a_score_of_python_that_is_no_number_is_one_error(tmp_path):
    with pytest.raises(swarm_evo.SearchError, match=r"cannot be scored: .*nan.*nothing was searched"):
        swarm_evo.evolve("def f(x):\n    return x\n", no_score, project_dir=tmp_path, budget={"steps": 2})


JUDGE = """
import importlib.util

def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"combined_score": 1.0 if module.f() == 1.5 else float("nan")}
"""


def test_a_candidate_without_a_finite_score_is_a_failure_with_what_came_back(cli):
    """The first program has a score; what `rules` makes of it has none."""
    (cli.folder / "evaluator.py").write_text(JUDGE)
    (cli.folder / "program.py").write_text("# EVOLVE-BLOCK-START\ndef f():\n    return 1.5\n# EVOLVE-BLOCK-END\n")
    ran = cli.here(
        "--problem=script", "problem.program=program.py", "problem.evaluator=evaluator.py", "search.max_steps=8"
    )
    assert ran.code == 0, ran.err
    shown = cli.show()
    assert shown["winner"]["role"] == "user" and shown["failures"].get("non_finite")
    failed = next(row["node_id"] for row in shown["nodes"] if row["failure"])
    assert cli.node(failed)["message"] == "metric 'combined_score' is not finite: 'nan'"


WITH_A_TIME = JUDGE.replace(
    'return {"combined_score": 1.0 if module.f() == 1.5 else float("nan")}',
    'return {"combined_score": 1.0, "valid": 1.0} if module.f() == 1.5 else {"valid": 0.0, "eval_time": 60.0}',
)


def test_what_an_evaluator_returns_for_a_failed_program_is_never_the_best_score(cli):
    """Without `combined_score` the mean of its numbers steered: 30, verified, and the best of all. Of a resume too."""
    (cli.folder / "evaluator.py").write_text(WITH_A_TIME)
    (cli.folder / "program.py").write_text("# EVOLVE-BLOCK-START\ndef f():\n    return 1.5\n# EVOLVE-BLOCK-END\n")
    words = ["--problem=script", "problem.program=program.py", "problem.evaluator=evaluator.py"]
    for going_on in ([*words, "search.max_steps=4"], ["resume", "latest", "search.max_steps=8"]):
        assert cli.here(*going_on).code == 0
        shown = cli.show()
        assert shown["best_metric"] == 1.0 and shown["winner"]["role"] == "user" and shown["failures"]["eval_error"]
    failed = [cli.node(row["node_id"])["message"] for row in shown["nodes"] if row["failure"]]
    assert all("no metric 'combined_score', which the score of the initial program is made of" in one for one in failed)


LOWEST = JUDGE.replace('float("nan")', "-1.7976931348623157e308")


def test_the_lowest_number_there_is_says_that_a_program_failed(cli):
    """As a score it made every mean and spread overflow: the run ended in a traceback, and could not be shown again."""
    (cli.folder / "evaluator.py").write_text(LOWEST)
    (cli.folder / "program.py").write_text("# EVOLVE-BLOCK-START\ndef f():\n    return 1.5\n# EVOLVE-BLOCK-END\n")
    words = ["--problem=script", "problem.program=program.py", "problem.evaluator=evaluator.py"]
    ran = cli.here(*words, "search.max_steps=20", "search.control=0.6", "logging.report=true")
    assert ran.code == 0, ran.err
    shown = cli.show()
    assert (
        shown["best_metric"] == 1.0 and shown["failures"]["non_finite"] > 5 and (cli.run_dir / "report.html").is_file()
    )
    failed = next(row["node_id"] for row in shown["nodes"] if row["failure"])
    assert "a finite number up to 1e+150 either way is needed" in cli.node(failed)["message"]
