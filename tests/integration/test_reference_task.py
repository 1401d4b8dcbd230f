"""A task in AlgoTune's form, written here: a reference `solve`, and the time that another takes for the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command_line import Cli

import swarm_evo
from problems.evaluator_forms import template_of

pytestmark = pytest.mark.usefixtures("forked_children")

TASK = """
import logging
import math
import random

from AlgoTuneTasks.base import register_task, Task

LIMIT = 1.0


def rounded(value):
    return round(value * LIMIT, 9)


@register_task("sums")
class Sums(Task):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.power = 1

    def generate_problem(self, n, random_seed=1):
        rng = random.Random(random_seed)
        return {"values": [rng.random() for _ in range(n)]}

    def solve(self, problem):
        total = 0.0
        for _ in range(20):
            total = math.fsum(value ** self.power for value in problem["values"])
        return {"sum": rounded(total)}

    def is_solution(self, problem, solution):
        right = solution["sum"] == rounded(math.fsum(problem["values"]))
        if not right:
            logging.error("the sum is another one")
        return right
"""
QUICK = """import math
class Solver:
    def solve(self, problem):
        return {"sum": round(math.fsum(problem["values"]), 9)}
"""
WRONG = QUICK.replace(", 9)", ", 2)")


def task(folder: Path, *, size: int = 3000) -> Path:
    (folder / "AlgoTuneTasks" / "sums").mkdir(parents=True)
    (folder / "reports").mkdir()
    (folder / "reports" / "generation.json").write_text(json.dumps({"sums": {"n": size}}))
    (folder / "AlgoTuneTasks" / "sums" / "sums.py").write_text(TASK)
    (folder / "AlgoTuneTasks" / "sums" / "description.txt").write_text("Sum the values.\n")
    return folder / "AlgoTuneTasks" / "sums"


def test_the_reference_itself_is_the_first_program(tmp_path: Path):
    found = template_of(task(tmp_path) / "sums.py")
    assert found is not None and (found.kind, found.asks) == ("reference", {"task": "Sums", "size": 3000})
    assert "Sum the values." in found.about and "class Solver:" in found.program and "def rounded" in found.program
    for kept_back in ("generate_problem", "is_solution", "AlgoTuneTasks", "import random", "register_task"):
        assert kept_back not in found.program
    scope: dict[str, type] = {}
    exec(found.program, scope)
    assert scope["Solver"]().solve({"values": [0.5, 0.25]}) == {"sum": 0.75}


def test_a_program_is_timed_against_the_reference_and_is_nothing_where_an_answer_is_wrong(tmp_path: Path):
    folder = task(tmp_path)
    settings = {"problem__path": str(folder), "search__repeats": 0, "logging__report": False}
    with swarm_evo.open(problem="script", budget={"steps": 2}, project_dir=tmp_path, **settings) as run:
        quick, wrong = (run.tell(run.ask(), code=code) for code in (QUICK, WRONG))
        start = run.nodes()[0]["metric"]
    assert start == pytest.approx(1, rel=0.9) and quick["metric"] > 3 * start, "20 times the work"
    assert quick["metric_source"] == "unisolated", "who is timed beside the evaluator can reach the clock"
    assert wrong["failure"] and "is not solved rightly: the sum is another one" in wrong["message"]


def test_how_large_its_problems_are_has_to_be_known(cli: Cli):
    folder = task(cli.folder)
    (cli.folder / "reports" / "generation.json").unlink()
    words = ["run", "--problem", "script", f"problem.path={folder}", "search.max_steps=1", "logging.report=false"]
    ended = cli.here(*words)
    assert ended.code == 2 and "--problem.options.evaluator_args.n=NUMBER" in ended.line
    assert cli.here(*words, "problem.options.evaluator_args={n: 100, problems: 2, runs: 1}").code == 0
