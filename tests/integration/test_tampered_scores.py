"""`replay --verify` compares all that a record says of a score: who vouches for it, its interval, the final part's."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from support.command_line import Cli
from support.mcp_client import McpClient
from support.once import made_once

import swarm_evo
from core.storage.repository import RunStore
from dashboard.server.app import create_app

pytestmark = pytest.mark.usefixtures("forked_children")

PAGE = "http://127.0.0.1:8008"
PACKING = ("--problem=bin_packing", "problem.name=u120", "problem.options.validation=2", "problem.options.test=3")
PROGRAM = "# EVOLVE-BLOCK-START\nx = 1.5\n# EVOLVE-BLOCK-END\n"
EVALUATOR = "def evaluate(path):\n    return {'combined_score': float(open(path).read().split('= ')[1].split()[0])}\n"
TOGETHER = ("--problem=script", "problem.program=program.py", "problem.evaluator=evaluator.py",
            "problem.options.isolation=together")  # fmt: skip


@pytest.fixture(scope="session")
def ended_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs that ended: one with a final part, one in which programs can reach what scores them."""

    def search(folder: Path) -> None:
        for name, words in (("packing", PACKING), ("together", TOGETHER)):
            (folder / name).mkdir()
            (folder / name / "program.py").write_text(PROGRAM)
            (folder / name / "evaluator.py").write_text(EVALUATOR)
            ended = Cli(folder / name)(*words, "search.max_steps=3")
            assert ended.code == 0, ended.err

    return made_once(tmp_path_factory, "tampered-scores", search)


@pytest.fixture
def run_of(ended_runs, cli_at):
    def copied(name: str) -> Cli:
        cli = cli_at(name)
        shutil.copytree(ended_runs / name, cli.folder, dirs_exist_ok=True)
        return cli

    return copied


def tamper(cli: Cli, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(cli.run_dir / "run.db")) as connection, connection:
        assert connection.execute(statement, values).rowcount == 1


def put(cli: Cli, name: str, change: Any) -> None:
    with closing(RunStore(cli.run_dir)) as store:
        found = store.get_fact(name)
        change(found)
        store.put_fact(name, found)


def test_an_honest_record_comes_out_again(run_of):
    ended = run_of("packing").here("replay", "latest", "--verify")
    assert ended.code == 0 and ended.out.endswith(
        "proposals, prompts, programs, scores and final scores came out again\n"
    )
    ended = run_of("together").here("replay", "latest", "--verify")
    assert ended.code == 0 and ended.out.endswith("proposals, prompts, programs and scores came out again\n"), ended.err


def test_a_final_score_that_is_another_is_found(run_of):
    cli = run_of("packing")
    put(cli, "final", lambda final: final.update(metric=final["metric"] / 2))
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 1 and "in final metric: " in ended.err and "became 'another'" in ended.err, (
        ended.out + ended.err
    )


def test_a_final_interval_and_that_of_a_baseline_are_found(run_of):
    cli = run_of("packing")
    put(cli, "final", lambda final: final.update(interval=[0.0, 1e-9]))
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 1 and "in final interval: " in ended.err, ended.out + ended.err
    cli = run_of("packing")
    winner = cli.show()["winner"]["node_id"]
    put(cli, "baselines", lambda rows: next(row for row in rows if row["node_id"] != winner).update(final=0.9))
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 1 and "in final metric: 0.9 became 'another'" in ended.err, ended.out + ended.err


def test_an_interval_that_no_evaluator_gave_is_found(run_of):
    cli = run_of("packing")
    with closing(sqlite3.connect(cli.run_dir / "run.db")) as connection:
        id_, rest = connection.execute("SELECT id, rest FROM nodes WHERE metric_value IS NOT NULL LIMIT 1").fetchone()
    tamper(
        cli, "UPDATE nodes SET rest = ? WHERE id = ?", json.dumps({**json.loads(rest), "interval": [0.0, 0.01]}), id_
    )
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 1 and " in interval: " in ended.err, ended.out + ended.err


def test_a_score_that_was_within_a_programs_reach_is_not_verified(run_of):
    cli = run_of("together")
    best = cli.show()["best_node_id"]
    tamper(cli, "UPDATE nodes SET metric_source = 'verified' WHERE id = ?", best)
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 1 and "in source: 'verified' became 'unisolated'" in ended.err, ended.out + ended.err


FORGED = {
    "score": "UPDATE nodes SET metric_value = 9.0, fitness = 9.0 WHERE id = ?",
    "order": "UPDATE nodes SET fitness = 9.0 WHERE id = ?",
    "source": "UPDATE nodes SET metric_source = 'verified' WHERE id = ?",
    "program": "UPDATE nodes SET code = (SELECT code FROM nodes AS o WHERE o.code != nodes.code LIMIT 1) WHERE id = ?",
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_winner_that_is_not_as_the_journal_told_it_is_shown_by_nobody(run_of, forged):
    """`show`, the page and a bundle called it verified, and a `resume` was led by it to its end."""
    cli = run_of("together")
    best = cli.show()["best_node_id"]
    tamper(cli, FORGED[forged], best)
    for words in ("show latest", "export-best latest --out taken", "resume latest search.max_steps=9", "step latest"):
        ended = cli.here(*words.split())
        assert ended.code != 0 and f"node {best}: its " in ended.line and "somebody changed the store" in ended.line
    assert "unreadable" in cli.here("list-runs").out
    with pytest.raises(swarm_evo.SearchError, match="somebody changed the store"):
        swarm_evo.load(cli.run_dir.name, project_dir=cli.folder)
    with McpClient(cli.folder) as client:
        found = client.call("status", run=cli.run_dir.name)
    assert "somebody changed the store" in found["error"]
    assert cli.here("verify", "latest").out.startswith("tampered")


def test_a_score_of_another_program_than_the_winner_is_listed_by_nobody(run_of):
    """It was shown in lists as it lay; a search did not go on with it."""
    cli = run_of("together")
    best = cli.show()["best_node_id"]
    (first,) = (node["node_id"] for node in cli.show()["nodes"] if node["place"] == 0)
    assert first != best
    tamper(cli, "UPDATE nodes SET metric_value = -9.0, fitness = -9.0 WHERE id = ?", first)
    words = (
        "show latest",
        f"show latest {first}",
        "export latest",
        "report latest",
        "resume latest search.max_steps=9",
    )
    for line in words:
        ended = cli.here(*line.split())
        assert ended.code == 1 and f"node {first}: its metric_value is -9.0" in ended.line, (line, ended.out)
    with pytest.raises(swarm_evo.SearchError, match="somebody changed the store"):
        swarm_evo.load(cli.run_dir.name, project_dir=cli.folder)
    with TestClient(create_app(cli.folder), base_url=PAGE) as client:
        found = client.get(f"/api/runs/{cli.run_dir.name}/nodes")
    assert found.status_code >= 400 and f"node {first}: its metric_value is -9.0" in found.text


ENDS = {
    "final score": ("final", lambda final: {**final, "metric": 1e-9}, "its final metric is 1e-09, and event"),
    "final interval": ("final", lambda final: {**final, "interval": [0.0, 1e-9]}, "its final interval is"),
    "what the winner gained": ("final", lambda final: {**final, "claim": None, "table": []}, "its fact final is not"),
    "another winner": ("final", lambda final: {**final, "node_id": "0" * 12}, "its final node_id is"),
    "a baseline": ("baselines", lambda rows: [{**row, "metric": 0.9} for row in rows], "its baseline's metric is 0.9"),
    "a baseline's final score": (
        "baselines",
        lambda rows: [{**row, "final": 0.9} for row in rows],
        "its fact baselines",
    ),
    "its status": ("status", lambda _: "interrupted", "its fact status is not"),
}


@pytest.mark.parametrize("forged", ENDS)
def test_an_end_that_is_not_as_it_was_told_is_shown_by_nobody(run_of, forged):
    """A final score that was put in place of the journal's was shown, compared and exported as the run's."""
    cli, (name, change, said) = run_of("packing"), ENDS[forged]
    run = cli.run_dir.name
    with closing(sqlite3.connect(cli.run_dir / "run.db")) as connection:
        (value,) = connection.execute("SELECT value FROM facts WHERE key = ?", (name,)).fetchone()
    tamper(cli, "UPDATE facts SET value = ? WHERE key = ?", json.dumps(change(json.loads(value))), name)
    for words in ("show latest", "show latest --json", "export-best latest --out taken", "report latest"):
        ended = cli.here(*words.split())
        assert ended.code == 1 and said in ended.line and "somebody changed the store" in ended.line, (words, ended.out)
    shutil.copytree(cli.run_dir, cli.run_dir.with_name("twin"))
    assert said in cli.here("compare", run, "twin").line
    rows = json.loads(cli.here("list-runs", "--json").out)
    assert all(row["status"] == "unreadable" and said in row["reason"] for row in rows)
    with pytest.raises(swarm_evo.SearchError, match="somebody changed the store"):
        swarm_evo.load(run, project_dir=cli.folder)
    with TestClient(create_app(cli.folder), base_url=PAGE) as client:
        assert said in client.get(f"/api/runs/{run}").text
    assert cli.here("verify", "latest").out.startswith("tampered")
