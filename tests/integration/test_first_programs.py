"""The user's own programs that fail: what mends them is judged by itself, and another one that is given may begin."""

from __future__ import annotations

from pathlib import Path

import pytest

import swarm_evo

LOADS = """
import importlib.util

def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    found = program.order([2, 1])
    assert found == sorted(found), "it is not in order"
    return {"combined_score": float(found[-1])}
"""
RUNS = """
import subprocess
import sys

def evaluate(program_path):
    return {"combined_score": float(subprocess.check_output([sys.executable, program_path]))}
"""
BROKEN = "def order(values):\n    return unknown\n"
MENDED = "def order(values):\n    return sorted(values)\n"
ODD = """
class Always(list):
    def __getitem__(self, place):
        return 99.0
    def __eq__(self, other):
        return True
def order(values):
    return Always([1, 2])
"""


def settings(folder: Path, evaluator: str, program: str) -> dict[str, object]:
    (folder / "evaluator.py").write_text(evaluator)
    (folder / "program.py").write_text(program)
    files = {"problem__program": str(folder / "program.py"), "problem__evaluator": str(folder / "evaluator.py")}
    return {**files, "problem__direction": "max", "search__repeats": 0, "logging__report": False}


@pytest.mark.parametrize(
    ("evaluator", "broken", "mended", "score", "source"),
    [
        (LOADS, BROKEN, MENDED, 2.0, "verified"),
        (LOADS, "def order(values):\n", MENDED, 2.0, "verified"),
        (RUNS, "print(unknown)\n", "print(3)\n", 3.0, "unisolated"),
    ],
)
def test_a_program_that_mends_ones_own_has_its_own_score(tmp_path: Path, evaluator, broken, mended, score, source):
    """Each was told to have failed as the own one did."""
    given = settings(tmp_path, evaluator, broken)
    with swarm_evo.open(problem="script", budget={"steps": 3}, project_dir=tmp_path, **given) as run:
        told = run.tell(run.ask(), code=mended)
        start = run.nodes()[0]
    assert (told["metric"], told["metric_source"]) == (score, source), told
    assert start["metric"] is None


def test_none_of_those_that_mend_it_has_a_say_in_how_it_is_kept_apart(tmp_path: Path):
    with swarm_evo.open(
        problem="script", budget={"steps": 3}, project_dir=tmp_path, **settings(tmp_path, LOADS, BROKEN)
    ) as run:
        odd = run.tell(run.ask(), code=ODD)
        mended = run.tell(run.ask(), code=MENDED)
    assert odd["metric"] in (None, 2.0), "its list is plain data, or nothing"
    assert (mended["metric"], mended["metric_source"]) == (2.0, "verified")


def test_a_further_program_that_is_given_begins_where_the_first_cannot_be_scored(tmp_path: Path):
    """The search ended: "the first program cannot be scored"."""
    given = settings(tmp_path, LOADS, "def order(values):\n    return values\n")
    (tmp_path / "other.py").write_text(MENDED)
    given["initial"] = [str(tmp_path / "other.py")]
    with swarm_evo.open(problem="script", budget={"steps": 2}, project_dir=tmp_path, **given) as run:
        told = run.tell(run.ask(), code=MENDED.replace("sorted(values)", "sorted(values)[:2]"))
        first, other = run.nodes()[:2]
    assert first["failure"] == "eval_error"
    assert (other["metric"], told["metric"], told["metric_source"]) == (2.0, 2.0, "verified")
