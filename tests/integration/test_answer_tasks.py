"""A task in the form of GigaEvo, written here: a program answers once, and the answer is validated."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command_line import Cli

import swarm_evo
from problems.evaluator_forms import template_of

VALIDATE = '''
import numpy as np
from helper import lengths


def validate(context, marks):
    """How long the ruler is that measures all that the context asks for."""
    if not isinstance(marks, np.ndarray):
        raise ValueError("an array is needed")
    missing = sorted(set(context["wanted"]) - lengths(marks))
    if len(missing) > 3:
        raise ValueError(f"{len(missing)} lengths are missing")
    return {"length": np.max(marks), "is_valid": not missing, "marks": len(marks)}
'''
HELPER = """
def lengths(marks):
    return {int(abs(a - b)) for a in marks for b in marks}
"""
CONTEXT = """
import random

def build_context():
    return {"wanted": [1, 2, 3], "drawn": random.random()}
"""
METRICS = """
specs:
  is_valid: {description: valid, is_primary: false, higher_is_better: true, lower_bound: 0, upper_bound: 1}
  length: {description: how long, is_primary: true, higher_is_better: false, lower_bound: 0, upper_bound: 99}
"""
PROGRAM = "import numpy as np\n\n\ndef entrypoint(context):\n    return np.array([{}])\n"
HELPED = """
import helper
import numpy as np


def entrypoint(context):
    found = np.array([0, 1, 3])
    assert helper.lengths(found) >= set(context["wanted"])
    return found
"""


@pytest.fixture
def task(tmp_path: Path) -> Path:
    folder = tmp_path / "ruler"
    (folder / "initial_programs").mkdir(parents=True)
    for name, text in (("validate.py", VALIDATE), ("helper.py", HELPER), ("context.py", CONTEXT)):
        (folder / name).write_text(text)
    (folder / "metrics.yaml").write_text(METRICS)
    (folder / "task_description.txt").write_text("Measure 1, 2 and 3 with a short ruler.\n")
    (folder / "initial_programs" / "a_list.py").write_text("def entrypoint(context):\n    return [0, 1, 2, 3]\n")
    (folder / "initial_programs" / "b_long.py").write_text(PROGRAM.format("0, 1, 3, 9"))
    return folder


def test_answers_are_validated_where_no_program_can_reach_it(tmp_path: Path, task: Path):
    settings = {"problem__path": str(task), "search__repeats": 0, "logging__report": False}
    with swarm_evo.open(problem="script", budget={"steps": 5}, project_dir=tmp_path, **settings) as run:
        told = [
            run.tell(run.ask(), code=code) for code in (HELPED, PROGRAM.format("0, 2"), PROGRAM.format("0, 0, 0, 0"))
        ]
        prompt = str(run.ask())
        first, second = run.nodes()[:2]
    better, invalid, raised = told
    assert first["failure"] == "bad_submission" and second["metric"] == 9, "all first programs begin the search"
    assert (better["metric"], better["metric_source"], better["metrics"]["marks"]) == (3, "verified", 3)
    assert (invalid["failure"], raised["failure"]) == ("bad_submission", "bad_submission")
    assert "is_valid is 0" in invalid["message"]
    assert raised["metric"] is None and "def lengths" in prompt, "what lies beside it to be imported is shown"
    assert "Measure 1, 2 and 3 with a short ruler." in prompt and "an array is needed" in prompt


def test_the_metric_and_its_direction_are_the_folders(cli: Cli, task: Path):
    ended = cli.here("run", "--problem", "script", f"problem.path={task}", "search.max_steps=1", "logging.report=false")
    assert ended.code == 0, ended.err
    section = cli.show()["config"]["problem"]
    assert (section["metric"], section["direction"]) == ("length", "min")


def test_a_file_of_that_name_alone_is_an_evaluator_as_any_other(task: Path):
    assert template_of(task / "validate.py") is not None
    (task / "metrics.yaml").unlink()
    assert template_of(task / "validate.py") is None
