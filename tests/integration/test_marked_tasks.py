"""A task in the form of AlphaEvolve's paper, written here: one file holds the program between marks, and scores it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command_line import Cli

import swarm_evo
from problems.evaluator_forms import template_of

pytestmark = pytest.mark.usefixtures("forked_children")

TASK = '''
"""How few marks measure many distances."""

# EVOLVE-BLOCK-START
import math

STEP = 3


def helper(length):
    return math.floor(length / 2)


def marks(length):
    return [0, 1, helper(length)]


# EVOLVE-BLOCK-END


def count(found):
    return math.fsum(1 for _ in {b - a for a in found for b in found if b > a})


def evaluate(eval_inputs):
    """More distances are better."""
    found = marks(eval_inputs["length"])
    if not all(0 <= mark <= eval_inputs["length"] for mark in found):
        return {"distances": -math.inf}
    return {"distances": count(found)}
'''
BETTER = TASK.replace("[0, 1, helper(length)]", "[0, 1, 4, length]")
OUTSIDE = TASK.replace("[0, 1, helper(length)]", "[0, 1, 99]")
CHEAT = BETTER.replace('"distances": count(found)', '"distances": 1000.0')
LACKS = TASK.replace("def marks(length)", "def others(length)")


def test_what_stands_between_the_marks_is_the_program_and_the_rest_scores_it(tmp_path: Path):
    (tmp_path / "ruler.py").write_text(TASK)
    settings = {"problem__path": str(tmp_path / "ruler.py"), "search__repeats": 0, "logging__report": False}
    settings |= {"problem__options__evaluator_args__length": 6}
    with swarm_evo.open(problem="script", budget={"steps": 5}, project_dir=tmp_path, **settings) as run:
        told = [run.tell(run.ask(), code=code) for code in (BETTER, CHEAT, OUTSIDE, LACKS)]
        start = run.nodes()[0]
    better, cheat, outside, lacks = told
    assert (start["metric"], better["metric"]) == (3, 6)
    assert better["metric_source"] == "verified", "evaluate() runs where no program does"
    assert cheat["metric"] in (6, None), "what scores is the user's own file, whatever a program says"
    assert outside["failure"] == "non_finite"
    assert lacks["failure"] == "eval_error" and "marks" in lacks["message"]


def test_what_evaluate_wants_to_know_is_asked_for(cli: Cli):
    (cli.folder / "ruler.py").write_text(TASK)
    words = ["run", "--problem", "script", f"problem.path={cli.folder / 'ruler.py'}", "search.max_steps=1"]
    ended = cli.here(*words)
    assert ended.code == 2 and "length: --problem.options.evaluator_args.length=VALUE says what" in ended.line
    assert cli.here(*words, "problem.options.evaluator_args.length=6", "logging.report=false").code == 0
    assert cli.show()["config"]["problem"]["direction"] == "max"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# EVOLVE-BLOCK", "# BLOCK"),
        ("evaluate(eval_inputs)", "evaluate(program_path)"),
        ("def evaluate", "def rate"),
        ("marks(eval_inputs", "len(eval_inputs"),
    ],
)
def test_files_of_other_forms_are_none(tmp_path: Path, old: str, new: str):
    path = tmp_path / "ruler.py"
    path.write_text(TASK)
    found = template_of(path)
    assert found is not None and (found.kind, found.asks["names"], found.program) == ("marked", ["marks"], TASK)
    path.write_text(TASK.replace(old, new))
    assert template_of(path) is None
