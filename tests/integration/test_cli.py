"""The command line as other programs rely on it: exit codes, one line for an error, JSON that keeps its keys."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.chat_server import ChatServer
from support.command_line import ROOT, Cli, toy_words

from core.state.live_work import read_live_work
from core.storage.begun import begun_steps
from core.storage.reader import RunReader

LIST_KEYS = {"run", "problem", "status", "started_at", "steps", "best_metric", "lower_is_better", "writer", "cost_usd"}
SHOW_KEYS = {
    "run", "problem", "status", "config", "direction", "best_node_id", "best_metric", "metric_source", "final_metric",
    "final_interval", "baselines", "steps", "failures", "tokens", "cost_usd", "elapsed", "sandbox", "journal_sha256",
    "nodes",
}  # fmt: skip
METRIC_KEYS = {
    "run", "step", "node_id", "parent_id", "operator", "metric", "metric_source", "lower_is_better", "is_buggy",
    "failure", "exec_time", "best_metric", "best_node_id", "writer", "prompt_tokens", "completion_tokens", "cost_usd",
    "elapsed",
}  # fmt: skip


# ---------------------------------------------------------------- what cannot be understood

WRONG = {
    "unknown key": (["search.num_draft=3"], ["search.num_draft", "search.num_drafts"]),
    "key of another section": (["--search.seed=1"], ["search.seed", "did you mean 'project.seed'"]),
    "section for a key": (["run", "--search=5"], ["--search=5", "search is a section of keys: --search."]),
    "option without a name": (["run", "--=5"], ["'--=5' names no key"]),
    "option of another verb": (["sweep", "--writer=external"], ["--writer=external", "--llm=external says that"]),
    "verb's option that is a key": (["run", "--steps=1"], ["--steps", "did you mean --search.max_steps="]),
    "unknown section": (["serch.max_steps=3"], ["serch", "search"]),
    "wrong type": (["search.max_steps=many"], ["search.max_steps", "many"]),
    "out of range": (["search.debug_prob=1.5"], ["search.debug_prob", "1.5"]),
    "no such choice": (["search.policy=anneal"], ["search.policy", "anneal", "three_phase", "mcts"]),
    "key without value": (["--search.max_steps", "3"], ["search.max_steps", "="]),
    "missing config": (["--config", "nowhere.yaml"], ["nowhere.yaml"]),
    "config is a folder": (["--config", "."], ["folder"]),
    "unknown problem": (["--problem=binpacking"], ["binpacking", "bin_packing"]),
    "unknown llm": (["--llm=opnai"], ["opnai", "openai"]),
    "unknown competition": (["--problem.name=titanic"], ["titanic", "diabetes"]),
    "unknown verb": (["runn"], ["runn", "run"]),
    "unknown option": (["list-runs", "--jsn"], ["--jsn"]),
    "missing initial": (["initial=mine.py"], ["initial", "mine.py"]),
    "no place for runs": (["project.dir=/proc/nowhere"], ["project.dir=/proc/nowhere", "cannot be written"]),
    "missing prompts": (["prompts.dir=nowhere"], ["prompts.dir", "nowhere"]),
    "no key": (["--llm=openai"], ["OPENAI_API_KEY"]),
    "no key of a host": (["--llm=glm"], ["llm.code.base_url=https://", "ZAI_API_KEY"]),
    "address without scheme": (
        ["--llm=openai", "llm.code.api_key=x", "llm.code.model=m", "llm.code.base_url=localhost:8000"],
        ["llm.code.base_url", "http://"],
    ),
    "no price": (
        ["--llm=openai", "llm.code.api_key=x", "llm.code.model=no-such-9"],
        ["llm.*.price", "budget.usd=null"],
    ),
    "no price of a choice": (
        ["--llm=openai", "llm.code.api_key=x", "llm.code.models=[{model: gpt-5-mini},{model: no-such-9}]"],
        ["no-such-9", "llm.*.price", "budget.usd=null"],
    ),
    "no command": (["llm.code.provider=command"], ["llm.code.command"]),
    "no such command": (["llm.code.provider=command", "llm.code.command=no-such-program"], ["no-such-program"]),
    "no recording": (["demo", "--recording", "nowhere"], ["nowhere", "manifest.json"]),
    "no sandbox": (["execution.sandbox=none", "--problem.name=diabetes"], ["--i-accept-unsandboxed"]),
    "unknown plug-in": (["problem.kind=chess960"], ["chess960"]),
    "async generations": (["--problem=connect_four", "search.schedule=async"], ["async", "rounds"]),
    "unknown run": (["show", "nothing"], ["nothing"]),
    "no latest": (["resume", "latest"], ["latest"]),
    "path as run": (["show", "../../etc"], ["../../etc"]),
    "stages": (["step", "--from", "code", "--until", "prompt"], ["prompt", "code"]),
    "no data": (["data.dir=nowhere"], ["nowhere"]),
    "no such status": (["list-runs", "--status", "done"], ["done", "finished", "interrupted"]),
    "a plan of a file that is not there": (
        ["run", "--plan", "--problem=bin_packing", "problem.name=zzz.txt"],
        ["problem.name=zzz.txt", "weibull_5k"],
    ),
    "a plan of a program that is not there": (
        ["run", "--plan", "--problem=script", "problem.program=f.py", "problem.evaluator=g.py"],
        ["problem.program=", "f.py", "no such file"],
    ),
    "a plan of a source that is not there": (
        ["run", "--plan", "--problem=command", "problem.source=nowhere", "problem.eval=true", "problem.metric=m"],
        ["problem.source=", "nowhere", "no such file"],
    ),
    "two who write": (["run", "--writer=external", "--llm=rules"], ["--writer=external", "rules"]),
    "a tag without a word": (["tag", "r", ""], ["a word is missing"]),
    "a replay of two kinds": (["replay", "r", "--verify", "--serve"], ["--verify", "--serve"]),
    "a bundle with more": (["export-best", "r", "--bundle", "b", "--notebook"], ["--bundle", "--notebook"]),
    "no such part of the keys": (["config", "serch"], ["serch", "did you mean 'search'"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_words_end_with_2_and_one_line(cli, case):
    words, said = WRONG[case]
    ended = cli.here(*words)
    assert ended.code == 2, ended.err
    assert ended.err.startswith("swarm-evo: ") and ended.err.count("\n") == 1
    for text in said:
        assert text in ended.err
    assert not (cli.folder / "logs").exists(), "something was left behind"


def test_a_broken_yaml_file_is_one_line(cli):
    (cli.folder / "mine.yaml").write_text("search: {max_steps: [1\n")
    ended = cli.here("--config", "mine.yaml")
    assert ended.code == 2 and "mine.yaml" in ended.line and "YAML" in ended.line


def test_the_exit_code_is_the_process_own(cli):
    ended = cli("search.num_draft=3")
    assert ended.code == 2 and "search.num_drafts" in ended.line


def test_help_has_examples_and_every_verb(cli):
    ended = cli.here("-h")
    assert ended.code == 0
    for word in ("examples:", "run", "step", "resume", "replay", "fork", "export-best", "doctor", "list-runs", "show"):
        assert word in ended.out


# ---------------------------------------------------------------- one finished run, looked at


def test_the_last_lines_say_what_a_user_needs(finished):
    assert finished.code == 0, finished.err
    for text in (
        "writer: rules",
        "not a language model",
        "max_steps: 8 of 8",
        "best distance:",
        "best program:",
        "next:",
    ):
        assert text in finished.out
    assert finished.err == ""


def test_a_run_leaves_its_files(cli, toy):
    ended = cli(*toy(8), "logging.report=true")
    assert ended.code == 0 and f"report: logs/{cli.run_dir.name}/report.html" in ended.out
    names = {path.name for path in cli.run_dir.iterdir()}
    assert names >= {
        "config.yaml", "system.log", "metrics.json", "metrics.csv", "evolution.png", "failures.png", "report.html",
        "best_solution", "run.db",
    }  # fmt: skip
    assert {p.name for p in (cli.run_dir / "best_solution").iterdir()} >= {"solution.py", "node.json"}
    for name in ("system.log", "metrics.json"):
        link = cli.folder / "logs" / name
        assert link.is_symlink() and not link.readlink().is_absolute()
        assert link.resolve() == (cli.run_dir / name).resolve()
    rows = json.loads((cli.run_dir / "metrics.json").read_text())
    assert len(rows) == 8 and all(row.keys() >= METRIC_KEYS for row in rows)
    assert all(row["cost_usd"] is None and row["prompt_tokens"] is None and row["writer"] == "rules" for row in rows)


def test_plots_and_report_are_left_out_on_request(cli, toy):
    ended = cli.here(*toy(2), "logging.report=false")
    assert ended.code == 0 and "report:" not in ended.out, ended.err
    left = {path.name for path in cli.run_dir.iterdir()}
    assert {"run.db", "metrics.json"} < left and not left & {"report.html", "evolution.png", "failures.png"}
    assert cli.here("report", "latest").code == 0 and (cli.run_dir / "report.html").is_file()


def test_json_of_list_runs_and_show(cli, finished):
    (row,) = cli.here("list-runs", "--json").json
    assert row.keys() >= LIST_KEYS and row["status"] == "finished" and row["steps"] == 8
    shown = cli.here("show", "latest", "--json").json
    assert shown.keys() >= SHOW_KEYS
    assert shown == cli.show() | {"elapsed": shown["elapsed"]}
    assert shown["direction"] == "min" and shown["metric_source"] in ("verified", "unisolated")
    assert re.fullmatch("[0-9a-f]{64}", shown["journal_sha256"])
    assert len(shown["nodes"]) == 8


def test_json_of_a_node_has_every_field_and_its_calls(cli, finished):
    best = cli.show()["best_node_id"]
    from core.state.node import Node

    node = cli.here("show", "latest", best, "--json").json
    assert node.keys() >= set(Node.model_fields) | {"node_id", "metric", "calls", "stages"}
    assert node["calls"][0]["reply"] and node["calls"][0]["user"]
    assert cli.here("show", "latest", best[:6], "--json").json["node_id"] == best


def test_a_node_is_named_by_its_step_number_at_every_door(cli, finished):
    """As surfaces tell it; six digits and more are the beginning of an id."""
    nodes = {node["step"]: node["node_id"] for node in cli.show()["nodes"]}
    assert cli.here("show", "latest", "8", "--json").json["node_id"] == nodes[8]
    assert cli.here("show", "latest", "[3]", "--json").json["node_id"] == nodes[4], "as prompts number it, from 0"
    assert cli.here("show", "latest", "8", "--why", "--json").json["why"]["chosen"]
    assert cli.here("show", "latest", "8", "--diff").code == 0
    told = cli.here("show", "latest", "99")
    assert told.code == 2 and "has no node and no step '99'" in told.line and "show" in told.line
    begun = cli.here("step", "latest", "--node", "8", "--dry-run")
    assert begun.code == 0 and nodes[8] in begun.out, begun.err


def test_why_is_told_in_words(cli, finished):
    """Candidates with scores, the draw and its seed behind an improvement; and the final choice."""
    child = next(node["node_id"] for node in cli.show()["nodes"] if node["operator"] == "improve")
    why = cli.here("show", "latest", child, "--why", "--json").json["why"]
    assert why["parents"][0].keys() >= {"node_id", "metric", "step"} and "draw" in why["chosen"]
    assert why["candidates"] and why["best"]["final"]["choice"][0].keys() >= {"difference", "error", "tie"}
    told = cli.here("show", "latest", child, "--why").out
    for words in (str(why["seed"]["draws"]), why["chosen"]["rule"], why["parents"][0]["node_id"], "final choice"):
        assert words in told, words
    assert "why the best is best" in cli.here("show", "latest", "--why").out


def test_shown_for_people(cli, finished):
    ended = cli.here("show", "latest")
    assert ended.code == 0 and cli.show()["best_node_id"] in ended.out
    assert cli.run_dir.name in cli.here("list-runs").out
    assert cli.here("show", "latest", "ffffffffffff").code == 2


def test_a_run_that_was_put_away_is_not_latest(cli, finished, toy):
    first = cli.run_dir.name
    assert cli.here(*toy(8)).code == 0
    assert "archived" in cli.here("tag", "latest", "--archive").out
    assert cli.here("show", "latest", "--json").json["run"] == first
    second = next(path.name for path in cli.runs if path.name != first)
    assert "listed again" in cli.here("tag", second, "--restore").out
    assert cli.here("show", "latest", "--json").json["run"] == second


def test_a_python_without_our_packages_says_what_to_install(cli):
    bare = [sys.executable, "-E", "-S", str(ROOT / "main.py"), "list-runs"]
    ended = subprocess.run(bare, cwd=cli.folder, capture_output=True, text=True, timeout=240)
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1, ended.stderr
    assert "not installed" in ended.stderr and "make install" in ended.stderr


def test_resume_of_a_finished_run_changes_nothing(cli, finished):
    before = cli.show()
    assert cli.here("resume", "latest").code == 0
    after = cli.show()
    with RunReader(cli.run_dir) as reader:
        assert len(reader.events(types=["final.scored"])) == 1, "the final part is looked at once"
    volatile = {"elapsed", "journal_head"}  # that it was resumed is a record of its own
    assert {k: v for k, v in after.items() if k not in volatile} == {k: before[k] for k in after if k not in volatile}


def test_replay_verify_and_a_changed_store(cli, finished):
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 0 and "equal: 8 nodes" in ended.out
    assert len(cli.runs) == 1, "the copy is removed"
    with sqlite3.connect(cli.run_dir / "run.db") as connection:
        connection.execute("UPDATE nodes SET metric_value = metric_value + 1 WHERE metric_value IS NOT NULL")
    connection.close()
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 1 and "differs at step" in ended.out + ended.err


@pytest.mark.long
def test_replay_verify_of_what_the_clock_or_the_user_ordered(cli, toy):
    """`async` commits in the order of the clock; steps by hand and forks hold the user's choices: all are recorded."""
    assert cli.here(*toy(8, seconds=0.05), "search.schedule=async", "search.batch=4", "search.workers=4").code == 0
    best = cli.show()["best_node_id"]
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 0 and "equal: 8 nodes" in ended.out, ended.out + ended.err
    assert cli.here("fork", "latest", "--node", best, "search.schedule=rounds", "search.max_steps=3").code == 0
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 0 and "equal: 4 nodes" in ended.out, ended.out + ended.err
    assert cli.here("step", "latest", "--operator", "draft").code == 0
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 0 and "equal: 5 nodes" in ended.out, ended.out + ended.err


def test_export_best_and_report(cli, finished, tmp_path):
    ended = cli.here("export-best", "latest", "--out", str(tmp_path / "out"))
    assert ended.code == 0 and str(tmp_path / "out" / "solution.py") in ended.out
    node = json.loads((tmp_path / "out" / "node.json").read_text())
    assert node["id"] == cli.show()["best_node_id"] and (tmp_path / "out" / "solution.py").read_text() == node["code"]
    refit = cli.here("export-best", "latest", "--out", str(tmp_path / "out"), "--refit")
    assert refit.code == 2 and "--refit" in refit.line
    ended = cli.here("report", "latest", "--out", str(tmp_path / "r.html"))
    assert ended.code == 0 and "<html" in (tmp_path / "r.html").read_text()


def test_fork_begins_with_the_edited_program(cli, finished):
    best = cli.show()["best_node_id"]
    (cli.folder / "edit.py").write_text("x = 2.25\n")
    ended = cli.here("fork", "latest", "--node", best, "--edit", "edit.py", "search.max_steps=2")
    assert ended.code == 0, ended.err
    shown = cli.show()
    assert shown["steps"] == 2 and len(shown["nodes"]) == 3
    assert shown["nodes"][0]["operator"] == "user" and shown["nodes"][0]["metric"] == pytest.approx(0.25)
    assert cli.here("fork", "latest", "--node", "nope").code == 2


def test_a_store_from_a_newer_version_is_refused(cli, finished):
    with sqlite3.connect(cli.run_dir / "run.db") as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    for verb in ("show", "resume"):
        ended = cli.here(verb, "latest")
        assert ended.code == 2 and "99" in ended.line and "newer" in ended.line
    (row,) = cli.here("list-runs", "--json").json
    assert (row["run"], row["status"]) == (cli.run_dir.name, "unreadable")
    assert "99" in row["reason"] and "newer" in row["reason"]


def test_foreign_folders_in_logs_are_no_runs(cli, finished):
    ours = cli.run_dir.name
    (cli.folder / "logs" / "tensorboard").mkdir()
    (cli.folder / "logs" / "tensorboard" / "run.db").write_bytes(b"not a database at all" * 100)
    (cli.folder / "logs" / "empty").mkdir()
    (cli.folder / "logs" / "empty" / "run.db").write_bytes(b"")
    (cli.folder / "logs" / "notes.txt").write_text("hello")
    listed = cli.here("list-runs", "--json")
    assert [row["run"] for row in listed.json if row["status"] != "unreadable"] == [ours]
    damaged = [row["run"] for row in listed.json if row["status"] == "unreadable"]
    assert damaged == ["tensorboard"], "it may have been a run"
    assert listed.err == ""
    ended = cli.here("show", "tensorboard")
    assert ended.code in (1, 2) and "tensorboard" in ended.line
    ended = cli.here("resume", "empty")
    assert ended.code == 2 and "empty" in ended.line
    assert cli.here("show", ours).code == 0


# ---------------------------------------------------------------- one run, two processes


@pytest.mark.long
def test_a_run_that_is_held_is_refused(cli, toy, eventually):
    child = cli.start(*toy(1000, seconds=0.05))
    eventually(lambda: cli.runs and cli.here("list-runs", "--json").json, 60)
    (row,) = cli.here("list-runs", "--json").json
    assert row["status"] == "running"
    ended = cli.here("resume", "latest")
    assert ended.code == 2 and str(child.pid) in ended.line
    child.kill()
    child.wait(60)
    assert cli.here("list-runs", "--json").json[0]["status"] == "interrupted"


@pytest.mark.parametrize(
    ("number", "schedule"),
    [
        (signal.SIGINT, "rounds"),
        pytest.param(signal.SIGTERM, "rounds", marks=pytest.mark.long),
        pytest.param(signal.SIGINT, "async", marks=pytest.mark.long),
    ],
)
def test_ctrl_c_once_finishes_what_is_in_flight(cli, toy, eventually, number, schedule):
    child = cli.start(*toy(1000, seconds=0.3), f"search.schedule={schedule}")
    eventually(lambda: cli.runs and _steps(cli), 60)
    child.send_signal(number)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert "resume" in out and "Traceback" not in err
    shown = cli.show()
    assert shown["status"] == "interrupted" and shown["steps"] >= 2
    assert shown["steps"] == len(json.loads(_metrics(cli)))
    assert "best " in out.splitlines()[-1], "how far it came, and how to go on"
    text, best = shown["verdict"]["text"], shown["best_metric"]
    assert text.startswith(f"The run was stopped at step {shown['steps']} of 1000. By then ") and f"{best:.6g}" in text
    refused = cli.here("resume", "latest", f"search.max_steps={shown['steps'] - 1}")
    found = re.search(r"allowed: (\d+) or more", refused.line)
    assert found, refused.line
    least = int(found[1])
    assert shown["steps"] <= least <= shown["steps"] + len(_open_tasks(cli)), "what runs was finished or is under way"
    for more in (least, least + 1):
        assert cli.here("resume", "latest", f"search.max_steps={more}").code == 0
        assert cli.show()["steps"] == more


def _open_tasks(cli: Cli) -> list[str]:
    with sqlite3.connect(cli.run_dir / "run.db") as store:
        return store.execute("SELECT node_id FROM tasks WHERE node_id NOT IN (SELECT id FROM nodes)").fetchall()


def test_a_resume_takes_no_step_back(cli, finished):
    """What is open by hand is the hand's; what the search has begun stands."""
    head = cli.show()["journal_sha256"]
    assert cli.here("step", "latest", "--operator", "draft", "--until", "prompt").code == 0
    ended = cli.here("resume", "latest", "search.max_steps=7")
    assert ended.code == 2 and ended.err.count("\n") == 1
    assert "search.max_steps=7: the run has begun 8 steps (8 done); allowed: 8 or more" in ended.line
    assert cli.show()["journal_sha256"] == head and cli.show()["steps"] == 8
    assert cli.here("resume", "latest", "search.max_steps=9").code == 0


def test_a_resume_of_a_finished_run_with_nothing_left_to_do_says_so_and_writes_nothing(cli, finished):
    before = _all_that_lies_there(cli.run_dir)
    head = cli.show()["journal_head"]
    for more in ([], ["search.max_steps=8"], ["logging.view=plain"], ["budget.seconds=3000"]):
        ended = cli.here("resume", "latest", *more)
        said = [line for line in ended.out.splitlines() if not line.startswith("… ")]  # of a start that takes long
        assert ended.code == 0 and len(said) == 1, ended.out
        assert "has ended already (max_steps: 8 of 8 steps), and nothing is left to do" in ended.out
        assert f"resume {cli.run_dir.name} --search.max_steps=16`" in ended.out
    assert cli.here("resume", "latest", "--json").json["best_node_id"] == cli.show()["best_node_id"]
    assert "authentic" in cli.here("verify", "latest", f"--head={head}").out
    assert _all_that_lies_there(cli.run_dir) == before
    assert cli.here("resume", "latest", "search.top_k=1", "search.max_steps=8").code == 0
    assert cli.show()["journal_head"] != head, "another choice was wanted"


def _all_that_lies_there(run_dir: Path) -> dict[str, object]:
    """The rows of the store, and the bytes of the files beside it."""
    files = [path for path in run_dir.rglob("*") if path.is_file() and not path.name.startswith(("run.db", "run.lock"))]
    with sqlite3.connect(run_dir / "run.db") as store:
        return {"store": list(store.iterdump()), **{str(path): path.read_bytes() for path in files}}


def test_what_is_offered_next_names_the_limits_of_now(cli, toy):
    assert cli.here(*toy(2)).code == 0
    ended = cli.here("resume", "latest", "search.max_steps=4", "budget.seconds=500")
    (offered,) = [line for line in ended.out.splitlines() if "--llm=openai" in line]
    assert "search.max_steps=4" in offered and "budget.seconds=500" in offered and "max_steps=2" not in offered
    assert "resume " in ended.out and "--search.max_steps=8" in ended.out
    played = cli.here("replay", "latest", "--speed=1e9").out
    assert re.findall("^started: .*|^resumed: .*|^step [0-9/]+", played, re.M) == [
        "started: at most 2 steps, 12 h", "step 1/2", "step 2/2",
        "resumed: at most 4 steps, 8.33 min", "step 3/4", "step 4/4",
    ]  # fmt: skip
    verified = cli.here("replay", "latest", "--verify")
    assert verified.code == 0, verified.err
    assert "at most 2 steps, 12 h, from step 3 on at most 4 steps, 8.33 min" in verified.out
    report = cli.here("report", "latest", "--format=md", "--out=r.md")
    text = (cli.folder / "r.md").read_text()
    assert report.code == 0 and text.index("search.max_steps=2") < text.index("resume")
    assert "search.max_steps=4 budget.seconds=500" in text


WAITS = """
import time
# EVOLVE-BLOCK-START
def f():
    return 1.5
# EVOLVE-BLOCK-END
def run():
    time.sleep(1)
    return f()
"""
SCORES = """
import importlib.util
def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return -abs(module.run() - 3)
"""


@pytest.mark.long
def test_ctrl_c_begins_nothing_more_and_the_resume_is_the_run_that_was_not_stopped(cli_at, eventually):
    """Real programs on two workers: what runs ends, what waits for a worker is left."""
    words = [
        "--problem=script", "problem.program=program.py", "problem.evaluator=evaluator.py", "search.workers=2",
        "search.max_steps=16", "search.policy=three_phase",
    ]  # fmt: skip  # so many that the stop comes long before the last
    whole, cli, at_once = made = [cli_at(name) for name in ("whole", "stopped", "stopped at once")]
    for each in made:
        (each.folder / "program.py").write_text(WAITS)
        (each.folder / "evaluator.py").write_text(SCORES)
    assert whole.here(*words).code == 0
    child = cli.start(*words)
    eventually(lambda: cli.runs and _steps(cli) >= 2, 90)
    ran = _executed(cli)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=240)
    assert child.returncode == 130, err
    assert "interrupted, everything is saved; best " in out and "resume" in out.splitlines()[-1]
    assert len(_executed(cli) - ran) <= 2 + 1, "one may have been begun while the signal was on its way"
    steps = cli.show()["steps"]
    with RunReader(cli.run_dir) as reader:
        begun = begun_steps(reader)
    least = steps + begun.open  # fewer cannot be asked for: what was proposed would be withdrawn
    refused = cli.here("resume", "latest", f"search.max_steps={least - 1}")
    assert refused.code == 2 and f"allowed: {least} or more" in refused.line
    assert f"({steps} done" in refused.line and ("under way, which" in refused.line) == bool(begun.open)
    assert cli.here("resume", "latest").code == 0
    assert cli.show()["journal_sha256"] == whole.show()["journal_sha256"]

    child = at_once.start(*words)
    eventually(lambda: at_once.runs and _steps(at_once) >= 2, 90)
    child.send_signal(signal.SIGINT)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert "interrupted, everything is saved; best " in out, "the second says as much as the first"
    assert at_once.here("resume", "latest").code == 0
    assert at_once.show()["journal_sha256"] == whole.show()["journal_sha256"], "what was killed was run again"


def _executed(cli: Cli) -> set[str]:
    with sqlite3.connect(cli.run_dir / "run.db") as store:
        return {row[0] for row in store.execute("SELECT node_id FROM stages WHERE stage = 'execute'")}


@pytest.mark.parametrize(
    "words", [["show", "latest"], ["show", "latest", "1"], ["show", "latest", "--json"], ["list-runs"]]
)
def test_who_reads_no_further_is_no_fault(cli, finished, words):
    """`show latest | head -1` in a script with `set -o pipefail`."""
    child = cli.start_anew(*words)
    child.stdout.close()
    assert child.wait(60) == 0 and not child.stderr.read()


def test_timeout_of_the_shell_asks_once_and_what_is_in_flight_is_finished(cli, toy, eventually):
    """timeout(1) signals the process, and its group a moment later: two signals, one wish."""
    done = cli.folder / "evaluations"
    child = cli.start(*toy(1000, seconds=2, evaluations=done), "search.batch=1", "search.workers=1")
    running: set[str] = set()

    def finished() -> set[str]:
        return {line.split()[0] for line in done.read_text().splitlines()} if done.is_file() else set()

    def something_runs() -> bool:
        work = read_live_work(cli.run_dir) if cli.runs else None
        running.update({name for name, one in work.nodes.items() if one.state == "scored"} if work else ())
        running.difference_update(finished())
        return bool(running) and len(finished()) >= 2  # the baseline, and a step

    eventually(something_runs, 60)
    child.send_signal(signal.SIGTERM)
    time.sleep(0.02)  # to wait for its words would be longer than an echo takes on a busy machine
    child.send_signal(signal.SIGTERM)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130 and "once more" in err and "interrupted, everything is saved" in out, err
    assert running <= finished(), "what ran was finished"


@pytest.mark.long
def test_a_run_whose_terminal_is_closed_finishes_what_is_under_way(cli, toy, eventually):
    """It ended at once, with replies that were paid for and not kept; its terminal cannot be written any more."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cli.folder)
        words = [sys.executable, str(ROOT / "main.py"), *toy(1000, seconds=0.3), "search.batch=1"]
        os.execve(sys.executable, words, {**os.environ, **cli.environment})

    def has_steps() -> bool:
        while select.select([terminal], [], [], 0)[0]:
            os.read(terminal, 65536)
        return bool(cli.runs) and _steps(cli) >= 2

    eventually(has_steps, 60)
    os.close(terminal)
    eventually(lambda: os.waitpid(pid, os.WNOHANG)[0], 60)
    last = (cli.run_dir / "system.log").read_text().splitlines()[-1]
    assert cli.show()["status"] == "interrupted" and "interrupted" in last, last


@pytest.mark.long
@pytest.mark.parametrize("schedule", ["rounds", "async"])
def test_ctrl_c_twice_stops_now(cli, toy, eventually, schedule):
    child = cli.start(*toy(1000, seconds=300), "search.batch=1", f"search.schedule={schedule}")
    eventually(lambda: cli.runs and (cli.run_dir / "metrics.json").is_file(), 60)
    child.send_signal(signal.SIGINT)
    line = child.stderr.readline() + child.stderr.readline()
    assert "once more" in line
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert "Traceback" not in err
    assert cli.show()["status"] == "interrupted"


def _steps(cli: Cli) -> int:
    return _metrics(cli).count('"step":')  # it may just be written


def _metrics(cli: Cli) -> str:
    path = cli.run_dir / "metrics.json"
    return path.read_text() if path.is_file() else ""


# ---------------------------------------------------------------- secrets


def holding(folder: Path, secret: str) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [path for path in files if secret.encode() in path.read_bytes()]


def test_a_key_is_nowhere_but_in_the_request(cli, toy):
    secret = "sk-verysecret-0123456789abcdef"

    def script(request, number):
        if number == 1:
            return f"Your key is {secret}.\n```python\nx = 1.5\n```"
        return "```python\nx = 2.5\n```"

    with ChatServer(script) as server:
        words = [*toy(3), *server.words(), "search.batch=1", "agent.review=never", f"llm.code.api_key={secret}"]
        ended = cli.here(*words, "logging.level=DEBUG")
        assert ended.code == 0, ended.err
        assert any(secret in str(header) for header in server.headers)
    shown = cli.here("show", "latest", "--json")
    listed = cli.here("report", "latest")
    nodes = [json.dumps(cli.node(node["node_id"])) for node in shown.json["nodes"]]
    assert any("Your key is" in node for node in nodes)
    for text in (ended.out, ended.err, shown.out, listed.out, *nodes):
        assert secret not in text
    assert not holding(cli.folder, secret)
    assert shown.json["config"]["llm"]["code"]["api_key"] == "********"


def test_a_bad_key_is_one_line_without_the_key(cli, toy):
    secret = "sk-verysecret-0123456789abcdef"
    import http.server
    import threading

    class Refusing(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            body = json.dumps({"error": {"message": f"Incorrect API key provided: {secret}"}}).encode()
            self.send_response(401)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        keys = [f"llm.code.base_url={url}", "llm.code.provider=openai", "llm.code.model=m"]
        prices = ["llm.code.price.input=1", "llm.code.price.output=1"]
        ended = cli.here(*toy(3), *keys, f"llm.code.api_key={secret}", *prices)
        server.shutdown()
    assert ended.code == 2, ended.err
    assert ended.line.startswith("swarm-evo: ") and secret not in ended.out + ended.err
    assert not holding(cli.folder, secret)


def test_what_the_machines_cost_counts_in_the_dollars_of_a_run(cli):
    dear = ["execution.usd_per_hour=360", "budget.usd=0.2", "search.batch=1", "search.workers=1"]  # ten cents a second
    ended = cli.here(*toy_words(10_000, seconds=0.05), *dear)
    assert ended.code == 0 and "of $0.2, " in ended.out and "for the machines" in ended.out, ended.out
    facts = cli.show()
    spent = facts["machine_usd"]
    assert 0.2 <= spent < 2 and facts["cost_usd"] in (None, 0)
    assert "for the machines" in cli.here("show", "latest").out
    again = cli.here("resume", "latest", f"budget.usd={spent + 0.2}")
    assert again.code == 0 and cli.show()["machine_usd"] >= spent + 0.2, again.out + again.err


def test_what_runs_is_stopped_where_the_machines_have_used_up_the_dollars(cli):
    """A cap that is never passed was passed by as long as a program ran."""
    (cli.folder / "program.py").write_text("x = 1\n")
    (cli.folder / "evaluator.py").write_text("import time\n\n\ndef evaluate(path):\n    time.sleep(120)\n")
    words = ["problem.program=program.py", "problem.evaluator=evaluator.py", "search.max_steps=1"]
    dear = ["execution.usd_per_hour=3600", "budget.usd=2", "logging.report=false"]  # a dollar a second
    ended = cli.here("run", "--problem=script", *words, *dear)
    assert ended.code == 3 and "budget.usd" in ended.out and "budget.seconds" not in ended.out, ended.out
    assert 2 <= cli.show()["machine_usd"] < 60, "it was cut off, and not waited for"


@pytest.mark.parametrize("word", ["problem.name=u500", "problem.direction=max", "project.seed=7", "data.target=x"])
def test_a_run_keeps_its_problem_and_its_seed(cli, toy, word):
    assert cli.here(*toy(3)).code == 0
    before = cli.show()
    for verb in ("resume", "step"):
        refused = cli.here(verb, "latest", word, "search.max_steps=5")
        assert refused.code == 2 and word in refused.line and "start a new run" in refused.line, refused.err
    assert cli.show() == before


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ("--problem", "diabetes"),
            "that is a data set, no problem; you mean `--problem=competition --problem.name=diabetes`",
        ),
        (("ask", "latest", "--request", "{}"), "--request: has no 'verb'; it is an object such as {"),
        (("ask", "latest", "--request", ""), "--request: no JSON: "),
    ],
)
def test_what_was_meant_is_said(cli, words, line):
    said = cli.here(*words)
    assert said.code == 2 and line in said.line


@pytest.mark.parametrize("verb", ["ask", "wait"])
def test_seconds_below_none_are_refused(cli, verb):
    said = cli.here(verb, "latest", "ticket", "--seconds=-1")
    assert said.code == 2 and "-1: a number of seconds from 0 on" in said.err


def test_completion_completes_the_command_that_an_installation_brings(cli):
    for shell in ("bash", "zsh", "fish"):
        script = cli.here("completion", shell, PATH="/usr/bin:/bin")
        assert "swarm-evo completion words" in script.out and "not on your PATH" in script.err
    assert "python main.py completion bash >> ~/.bashrc" in " ".join(cli.here("completion", "-h").out.split())
