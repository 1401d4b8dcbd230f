"""The same seed gives the same run with a user's evaluator, for any number of workers; only what was apart ranks."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from support.command_line import Cli

PROGRAM = "# EVOLVE-BLOCK-START\ndef f(x):\n    return 1.5 * x + 0.25\n# EVOLVE-BLOCK-END\n"
COUNTS = """
import importlib.util, random
SEEN, DRAWS = [], random.Random(7)
def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    SEEN.append(path)
    errors = [abs(program.f(x / 10) - 3.0) for x in range({calls})]
    return {{"combined_score": -sum(errors) / len(errors) - 1000 * (len(SEEN) - 1) - DRAWS.random()}}
"""
"""An evaluator that counts what it has seen and draws numbers: a score would tell how many were before it."""


@pytest.mark.parametrize(("calls", "isolation"), [(1, "apart"), (400, "screen")])
def test_the_journal_is_the_same_for_any_number_of_workers(cli_at: Callable[[str], Cli], tmp_path, calls, isolation):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "evaluator.py").write_text(COUNTS.format(calls=calls))
    hashes = set()
    for workers in (1, 2, 4):
        cli = cli_at(f"workers-{workers}")
        ended = cli.here(
            "run", "--problem=script", f"--problem.program={tmp_path / 'program.py'}", "--problem.direction=max",
            f"--problem.evaluator={tmp_path / 'evaluator.py'}", "--search.max_steps=24", f"--search.workers={workers}",
            "--logging.view=quiet",
        )  # fmt: skip
        assert ended.code == 0, ended.err + ended.out
        hashes.add(cli.show()["journal_sha256"])
        with closing(sqlite3.connect(cli.runs[0] / "run.db")) as store:
            rows = store.execute("select metric_value, metric_source from nodes").fetchall()
        ranked = [(metric, source) for metric, source in rows if metric is not None]
        assert {source for _, source in ranked} == {"verified"}
        assert all(metric > -100 for metric, _ in ranked), "an evaluator saw what was before its candidate"
        decided = json.loads((cli.runs[0] / "files" / "isolation.json").read_text())
        assert decided["isolation"] == isolation
    assert len(hashes) == 1
