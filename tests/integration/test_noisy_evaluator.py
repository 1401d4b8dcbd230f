"""An evaluator that never says the same twice: the winner is the best mean, and what its run left is exported."""

from __future__ import annotations

import json
import re

import pytest
from support.chat_server import REVIEW, ChatServer

PROGRAM = "# EVOLVE-BLOCK-START\ndef value():\n    return 1.0\n# EVOLVE-BLOCK-END\n"
EVALUATOR = '''\
"""Noisy."""
import importlib.util
import random


def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    value = float(module.value())
    score = value + random.SystemRandom().gauss(0, 0.2)
    return {"metrics": {"score": score}, "artifacts": {"the ../route": f"value {value}"}}
'''


@pytest.mark.long
def test_the_winner_is_looked_at_again_and_its_artifact_is_kept(cli):
    folder = cli.folder / "noisy"
    folder.mkdir()
    (folder / "initial_program.py").write_text(PROGRAM)
    (folder / "evaluator.py").write_text(EVALUATOR)
    ended = cli.here("--problem=script", "--problem.path=noisy", "--problem.metric=score", "search.max_steps=3")
    assert ended.code == 0, ended.err
    shown = cli.show()
    rows = shown["final"]["choice"]
    metrics = {node["node_id"]: node["metric"] for node in shown["nodes"]}
    assert any(abs(row["metric"] - metrics[row["node_id"]]) > 1e-6 for row in rows), "means of several looks"
    assert shown["best_node_id"] == max(rows, key=lambda row: row["metric"])["node_id"]
    best = next(cli.folder.glob("logs/*/best_solution"))
    (artifact,) = (best / "artifacts").iterdir()
    assert artifact.name == "0-the-route.txt" and artifact.read_text().startswith("value ")
    assert json.loads((best / "node.json").read_text())["artifacts"]


RANDOM = """
import random

def evaluate(path):
    return {"combined_score": random.SystemRandom().random()}
"""
SAME = """
def evaluate(path):
    return {"combined_score": 0.5}
"""


CLOCK = """
import importlib.util
import time

def evaluate(path):
    began = time.perf_counter()
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    took = time.perf_counter() - began
    return {"combined_score": -took, "value": float(module.f()), "ended_at": time.time()}
"""
STEADY = """
import importlib.util

def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"combined_score": float(module.f())}
"""


def run_with(cli, judge, steps, *more):
    (cli.folder / "f.py").write_text("# EVOLVE-BLOCK-START\ndef f():\n    return 3 + 4\n# EVOLVE-BLOCK-END\n")
    (cli.folder / "judge.py").write_text(judge)
    words = ["--problem", "script", "problem.program=f.py", "problem.evaluator=judge.py", *more]
    ended = cli.here(*words, f"search.max_steps={steps}", "logging.report=false")
    assert ended.code == 0, ended.err
    return ended, cli.show()


def test_a_random_evaluator_makes_nothing_better(cli):
    ended, shown = run_with(cli, RANDOM, 8)
    verdict = shown["verdict"]
    assert "Better than your program by" not in verdict["text"] and verdict["kind"] != "better"
    assert any("does not give the same program the same score" in text for text in verdict["warnings"])
    assert "note: the evaluator does not give the same program the same score" in ended.out
    assert shown["final"]["looks"] and "fresh cases" not in ended.out
    own = shown["baselines"][0]["node_id"]
    assert len({look["node_id"]: 1 for look in shown["final"]["looks"]}) == len(shown["final"]["looks"])
    assert own in {look["node_id"] for look in shown["final"]["looks"]}, "half of the comparison"
    if shown["winner"]["role"] == "candidate":
        anew = {look["node_id"] for look in shown["final"]["looks"] if "before" in look}
        assert anew == {own, shown["winner"]["node_id"]}, "the scores that chose the winner flatter it"
    (listed,) = cli.here("list-runs", "--json").json
    gain = verdict["gain"]  # of a candidate over the user's program; chance may leave that program ahead
    assert listed["gain"] == gain and (gain is not None or shown["winner"]["role"] != "candidate")
    assert ("" if gain is None else f"{abs(gain):.4g} (95 %") in verdict["text"]
    node = cli.node(shown["winner"]["node_id"])
    rows = {row["node_id"]: row for row in cli.here("export", "latest", "--format=json").json}
    count = shown["winner"]["scores"]
    assert count == node["scores"] == rows[node["node_id"]]["scores"] == (len(node["repeats"]) or 1)
    assert (f"mean of {count} scores" in ended.out) == (count > 1)


def test_where_the_end_has_no_time_the_search_says_how_sure_the_verdict_is(cli, monkeypatch):
    """The first look was taken however long it took; now it is left out and told, and nothing is surer for that."""
    monkeypatch.setattr("utils.allowance.LEAST", 0.0)
    monkeypatch.setattr("utils.allowance.SHARE", 0.0)
    ended, shown = run_with(cli, RANDOM, 5)
    assert shown["final"]["looks"] is None
    warning = "there was no time to score the best again: one score has a standard deviation of"
    assert "the best is not scored again" in ended.out and warning in " ".join(ended.out.split())
    if shown["winner"]["role"] == "candidate":
        assert "(95 %: " in shown["verdict"]["text"] and shown["winner"]["noise"]


def test_an_evaluator_that_scores_all_alike_is_named(cli):
    _, shown = run_with(cli, SAME, 5)
    text = shown["verdict"]["text"]
    assert "Your evaluator gave the same score, " in text and "language model" not in text


def writes_numbers(request, number):
    return f"Another number.\n\n```python\n# EVOLVE-BLOCK-START\ndef f():\n    return {number}\n# EVOLVE-BLOCK-END\n```"


@pytest.mark.long
@pytest.mark.parametrize("isolation", ["apart", "screen"])
def test_a_replay_of_times_says_which_scores_differ_and_that_all_else_came_out_again(cli, isolation):
    with ChatServer(writes_numbers) as server:
        run_with(cli, CLOCK, 6, *server.words(), f"problem.options.isolation={isolation}")
        asked = len(server.requests)
        assert asked >= 6 and "ended_at" in server.requests[-1]["messages"][-1]["content"], (
            "prompts tell what was measured"
        )
        replayed = cli.here("replay", "latest", "--verify")
        assert len(server.requests) == asked, "nothing is asked"
    found = re.fullmatch(
        r"(\d+) of (\d+) scores differ: they depend on the clock or on chance \(at \w+ \w+ metric \S+ became \S+, and "
        r"then \S+\); proposals, prompts and programs came out again from the recorded scores\n",
        replayed.err,
    )
    assert replayed.code == 1 and found, replayed.out + replayed.err
    assert 0 < int(found[1]) <= int(found[2]) == len(cli.show()["nodes"])


@pytest.mark.long
def test_a_score_that_repeats_and_is_not_the_recorded_one_is_a_difference(cli):
    with ChatServer(writes_numbers) as server:
        run_with(cli, STEADY, 4, *server.words())
    replayed = cli.here("replay", "latest", "--verify")
    assert replayed.code == 0, replayed.err
    assert replayed.out.endswith("; proposals, prompts, programs and scores came out again\n")
    judge = cli.folder / "judge.py"
    judge.write_text(judge.read_text().replace("float(module.f())", "float(module.f()) + (module.f() == 2)"))
    replayed = cli.here("replay", "latest", "--verify")
    said = r".*differs at step \d+ in metric: 2\.0 became 3\.0; 1 of \d+ scores differ, 1 of them the same way twice;"
    assert replayed.code == 1 and re.match(said, replayed.err), replayed.err


@pytest.mark.long
def test_a_run_whose_scores_are_claims_is_replayed_although_its_programs_print_the_time(cli):
    folder = cli.folder / "data"
    folder.mkdir()
    (folder / "table.csv").write_text("a,b\n1,2\n3,4\n")

    def script(request, number):
        if request.get("tools"):
            return {**REVIEW, "metric": float(number % 5)}
        program = f"import time\nprint('validation metric', {number}, 'at', time.time())\n# guesses nothing at all\n"
        return f"I print.\n\n```python\n{program}```"

    with ChatServer(script) as server:
        server.reviews = True
        words = ("--data.dir=data", "data.goal=guess b", "data.metric=rmse", "search.max_steps=3", "agent.ideas=never")
        ended = cli.here(*words, *server.words())
        assert ended.code == 0, ended.err
    assert {row["metric"] is not None for row in cli.show()["nodes"]} == {True}
    replayed = cli.here("replay", "latest", "--verify")
    assert replayed.code == 0, replayed.err
