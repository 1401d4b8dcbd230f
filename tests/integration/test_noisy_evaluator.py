"""An evaluator that never says the same twice: the winner is the best mean, and what its run left is exported."""

from __future__ import annotations

import json

import pytest

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


def run_with(cli, judge, steps):
    (cli.folder / "f.py").write_text("# EVOLVE-BLOCK-START\ndef f():\n    return 3 + 4\n# EVOLVE-BLOCK-END\n")
    (cli.folder / "judge.py").write_text(judge)
    words = ["--problem", "script", "problem.program=f.py", "problem.evaluator=judge.py"]
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


def test_an_evaluator_that_scores_all_alike_is_named(cli):
    _, shown = run_with(cli, SAME, 5)
    assert "Your evaluator gave all" in shown["verdict"]["text"] and "language model" not in shown["verdict"]["text"]
