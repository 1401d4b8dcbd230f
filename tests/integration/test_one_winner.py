"""Every surface of a run names the same winner, with its own scores, and says the same verdict; one run a family."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
from contextlib import closing

import pandas
import pytest
from fastapi.testclient import TestClient
from support.command_line import toy_words

from core.events import FinalScored, RunFinished
from core.state.operators import FREE_OPERATORS
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from dashboard.server.app import create_app
from swarm_evo.result import read_result

pytestmark = pytest.mark.usefixtures("forked_children")

FAMILIES = {
    "tsp": ["--problem", "tsp", "search.max_steps=6", "problem.options.cities=12"],
    "bin_packing": ["--problem", "bin_packing", "problem.name=u120", "search.max_generations=1"],
    "script": ["--problem", "script", "problem.program=f.py", "problem.evaluator=judge.py", "search.max_steps=4"],
    "arena": [
        "--problem", "connect_four", "search.max_generations=1", "arena.games=2", "arena.openings=2",
        "arena.gauntlet=4", "arena.limit=nodes:200",
    ],
    "competition": ["--problem", "competition", "problem.name=diabetes", "search.max_steps=2", "search.num_drafts=2"],
}  # fmt: skip


JUDGE = """
import importlib.util

def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"combined_score": -abs(3 - module.f())}
"""


LONG = ("tsp", "bin_packing", "arena", "competition")
"""The families that `make test-all` walks: the runs of the others take seconds, and tests of their own begin them."""


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.long] * (name in LONG)) for name in FAMILIES])
def finished(request, cli, inline):
    """(command line, what the run printed) of a finished run."""
    if request.param == "script":
        (cli.folder / "f.py").write_text("# EVOLVE-BLOCK-START\ndef f():\n    return 3\n# EVOLVE-BLOCK-END\n")
        (cli.folder / "judge.py").write_text(JUDGE)
    ran = cli.here(*FAMILIES[request.param], "logging.report=true")
    assert ran.code == 0, ran.err
    return cli, ran.out


def same_steps_everywhere(cli, said, shown):
    """A node has one number: the terminal's, from 1; baselines and the user's own program have none anywhere."""
    folder = cli.run_dir
    steps = {node["node_id"]: node["step"] for node in shown["nodes"]}
    free = {node["node_id"] for node in shown["nodes"] if node["operator"] in FREE_OPERATORS}
    assert {name for name, step in steps.items() if step is None} == free
    assert sorted(step for step in steps.values() if step) == list(range(1, shown["steps"] + 1))
    for number, digits in re.findall(r"^step (\d+)\S* +([0-9a-f]{6}) ", said, re.M):
        assert [step for name, step in steps.items() if name.startswith(digits)] == [int(number)]
    rows = {
        "csv": list(csv.DictReader(io.StringIO(cli.here("export", "latest", "--format=csv").out))),
        "json": cli.here("export", "latest", "--format=json").json,
        "metrics": [row for row in json.loads((folder / "metrics.json").read_text()) if "step" in row],
        "nodes()": read_result(folder, shown).nodes().to_dict("records"),
    }
    for name, told in rows.items():
        for row in told:
            step = row["step"]
            assert (None if step == "" or pandas.isna(step) else int(step)) == steps.get(row["node_id"]), name
    log = (folder / "system.log").read_text()
    node_id, number = next((name, step) for name, step in steps.items() if step)
    assert f"step {number}: {node_id} " in log
    assert cli.node(node_id)["step"] == number
    with TestClient(create_app(cli.folder), base_url="http://127.0.0.1:8008") as client:
        listed = client.get(f"/api/runs/{folder.name}/nodes").json()["nodes"]
        whole = client.get(f"/api/runs/{folder.name}/nodes/{node_id}").json()["node"]
    assert {row["node_id"]: row["step"] for row in listed} == steps and whole["step"] == number
    page = (folder / "report.html").read_text()
    for digits, told in re.findall(r"<title>(?:step (\d+), )?\w+ ([0-9a-f]{12}): ", page):
        assert steps[told] == (int(digits) if digits else None)


@pytest.mark.timeout(300)
def test_every_surface_names_the_same_winner_and_says_the_same(finished):
    cli, said = finished
    folder, shown = cli.run_dir, cli.show()
    winner, verdict = shown["winner"], shown["verdict"]
    assert winner["chosen"] and verdict["kind"] not in ("open", "none")
    assert shown["best_node_id"] == winner["node_id"] and shown["best_metric"] == winner["metric"]

    assert f"verdict: {verdict['text']}" in said
    assert f"{winner['metric']:.6g}" in said
    assert json.loads((folder / "best_solution" / "node.json").read_text())["id"] == winner["node_id"]
    same_steps_everywhere(cli, said, shown)
    last = json.loads((folder / "metrics.json").read_text())[-1]
    assert (last["winner_node_id"], last["winner_metric"]) == (winner["node_id"], winner["metric"])
    assert last["final_metric"] == winner["final_metric"]
    assert winner["node_id"] in (folder / "metrics.csv").read_text()
    page = html.unescape(re.sub(r"<[^>]+>", "", (folder / "report.html").read_text()))
    assert shown["effort"].startswith(f"{shown['steps']} step") and shown["effort"] in said.splitlines()
    assert shown["effort"] in page
    assert verdict["text"] in page and (folder / "evolution.png").is_file()

    with RunReader(folder) as reader:
        finals = [e for e in reader.events(types=["final.scored"]) if isinstance(e, FinalScored)]
        ended = [e for e in reader.events(types=["run.finished"]) if isinstance(e, RunFinished)]
    assert finals[-1].node_id == ended[-1].best_node_id == winner["node_id"]
    assert finals[-1].metric == winner["final_metric"]

    with TestClient(create_app(cli.folder), base_url="http://127.0.0.1:8008") as client:
        detail = client.get(f"/api/runs/{folder.name}").json()
        line = client.get("/api/runs").json()[0]
    assert detail["winner"] == winner and detail["conclusion"] == verdict and detail["effort"] == shown["effort"]
    at = "over all its rated games" if "all its rated games" in said else "on validation"
    for name, what in (("best_on_validation", f"best {at}"), ("best_of_search", "best of the search")):
        told = shown[name] and f"{what}: {shown[name]['metric']:.6g} by {shown[name]['name']}, not chosen: "
        assert detail[name] == shown[name]
        assert (told or "") in said or shown[name]["node_id"] == shown["best_on_validation"]["node_id"]
    for surface in (detail, line):
        assert (surface["best_node_id"], surface["best_metric"]) == (winner["node_id"], winner["metric"])
        assert surface["final_metric"] == winner["final_metric"] and surface["verdict"] == verdict["kind"]

    listed = cli.here("list-runs", "--json").json[0]
    assert (listed["best_metric"], listed["final_metric"]) == (winner["metric"], winner["final_metric"])
    assert listed["verdict"] == verdict["kind"]

    again = cli.here("resume", "latest")
    assert again.code == 0 and again.out.count("\n") == 1 and "nothing is left to do" in again.out
    verified = cli.here("verify", "latest", f"--head={shown['journal_head']}")
    assert verified.out.startswith("authentic: "), verified.out

    result = read_result(folder, shown)
    assert (result.best.node_id, result.best.metric) == (winner["node_id"], winner["metric"])
    assert result.final_metric == winner["final_metric"] and result.verdict == verdict["text"]


def test_a_baseline_that_no_candidate_beats_is_the_winner(cli):
    """The toy's baseline is 0 and the optimum 2; where no candidate may be above 0, the baseline is handed out."""
    ran = cli.here(*toy_words(6, refuse=0))
    shown = cli.show()
    assert ran.code == 0 and shown["winner"]["role"] == "baseline" and shown["verdict"]["kind"] == "no_gain"
    assert "Nothing beat the baseline zero" in ran.out
    assert (cli.run_dir / "best_solution" / "solution.py").read_text() == "x = 0\n"
    assert cli.node(shown["best_node_id"])["code"] == "x = 0\n"
    assert cli.here("export-best", "latest").code == 0


def test_where_a_baseline_wins_it_is_the_best_on_validation_and_nothing_else_is_called_so(cli):
    """The toy's baseline scores 2; the one program of two steps that runs scores 6.19."""
    ran = cli.here(*toy_words(2, "logging.report=true"))
    shown = cli.show()
    assert shown["winner"]["role"] == "baseline" and shown["best_on_validation"] is None
    own = shown["best_of_search"]
    assert own["metric"] > shown["winner"]["metric"] and own["why_not"].startswith(
        "zero is better than every candidate"
    )
    line = f"best of the search: {own['metric']:.6g} by {own['name']}, not chosen: {own['why_not']}"
    markdown = cli.here("report", "latest", "--format=md", "--out=r.md")
    page = re.sub(r"<[^>]+>", "", (cli.run_dir / "report.html").read_text()).lower()
    people = " ".join(cli.here("show", "latest", COLUMNS="300").out.split())
    assert markdown.code == 0 and line in ran.out.splitlines()
    assert line.partition(" by ")[2] in page
    for told in (ran.out, people, (cli.folder / "r.md").read_text(), page):
        assert "best of the search" in told and "best on validation" not in told.lower()
    assert "1 program failed in 2 steps." in shown["verdict"]["text"]
    assert "2 steps: no duplicates, 1 program failed (runtime 1)" in people


def test_before_the_end_the_best_is_who_leads_and_a_baseline_is_named(cli):
    """A step by hand opens the conclusion again: the toy's baseline beside the search leads by 2 to 6.19."""
    assert cli.here(*toy_words(2)).code == 0
    stepped = cli.here("step", "latest")
    shown, listed = cli.show(), cli.here("list-runs", "--json").json[0]
    winner = shown["winner"]
    assert (winner["role"], winner["name"], winner["chosen"]) == ("baseline", "zero", False)
    assert "by the baseline zero" in stepped.out and "nothing beat the baseline zero" in shown["verdict"]["text"]
    assert (listed["best_metric"], listed["best_is"]) == (shown["best_metric"], "zero") == (2.0, "zero")
    assert (
        re.search(r" 2 [↓↑] zero ", cli.here("list-runs").out)
        and "the baseline zero, node" in cli.here("show", "latest").out
    )
    assert cli.node(winner["node_id"])["code"] == "x = 0\n"
    assert cli.here("export-best", "latest", "--out=there").code == 0
    assert (cli.folder / "there" / "solution.py").read_text() == "x = 0\n"
    assert (cli.run_dir / "best_solution" / "solution.py").read_text() == "x = 0\n"
    assert read_result(cli.run_dir, shown).best.code == "x = 0\n"
    assert cli.here("export-best", "latest", "--bundle=bundle").code == 0
    assert cli.here("verify", "bundle").code == 0, cli.here("verify", "bundle").out
    with TestClient(create_app(cli.folder), base_url="http://127.0.0.1:8008") as client:
        detail = client.get(f"/api/runs/{cli.run_dir.name}").json()
        leads = client.get(f"/api/runs/{cli.run_dir.name}/nodes/{winner['node_id']}").json()
    assert detail["winner"] == winner and detail["conclusion"] == shown["verdict"]
    assert leads["node"]["code"] == "x = 0\n" and detail["best_is"] == "zero"


def test_your_own_program_has_one_name_from_the_first_line_on(cli):
    (cli.folder / "a.py").write_text("print('score: 1')\n")
    ran = cli.here(
        "--problem=command", "problem.source=a.py", "problem.eval=python3 a.py", "problem.metric=score",
        "problem.direction=max", "search.max_steps=1",
    )  # fmt: skip
    assert ran.code == 0 and "\nyour program: 1\n" in ran.out and "initial" not in ran.out
    log = (cli.run_dir / "system.log").read_text()
    assert "your program: 1" in log and "baseline initial" not in log
    rows = cli.here("export", "latest", "--format=json").json
    assert [row["name"] for row in rows if row["operator"] == "baseline"] == ["your program"]
    assert [row["name"] for row in cli.show()["baselines"]] == ["your program"]


def test_whoever_exports_a_program_that_is_worse_is_told_so(cli, finished_run, tmp_path):
    shutil.copytree(finished_run, cli.folder, symlinks=True, dirs_exist_ok=True)
    assert "warning" not in cli.here("export-best", "latest").err
    with closing(RunStore(cli.run_dir)) as store:
        final = {**store.get_fact("final"), "metric": 99.0, "interval": None, "claim": None}
        store.put_facts({"final": final}, [FinalScored(node_id=final["node_id"], metric=99.0)])
    verdict = cli.show()["verdict"]
    assert verdict["kind"] == "worse"
    for words in (["--out", "there"], ["--bundle", "bundle"]):
        told = cli.here("export-best", "latest", *words)
        assert told.code == 0 and f"warning: {verdict['text']}" in told.err.splitlines(), told.err
