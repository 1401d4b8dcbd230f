"""A task in the form of DeepEvolve, written here: an interface imports the program as a module and says its score."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.command_line import Cli

import swarm_evo

INTERFACE = """
import traceback

from main import marks


def deepevolve_interface():
    try:
        found = marks(6)
        lengths = {abs(a - b) for a in found for b in found}
        return True, {"combined_score": len(lengths) - 1.0, "length": max(found), "note": f"{len(found)} marks"}
    except Exception:
        return False, f"Traceback: {traceback.format_exc()}"
"""
PROGRAM = "def marks(length):\n    return [0, {}]\n"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    folder = tmp_path / "ruler"
    (folder / "initial_code").mkdir(parents=True)
    (folder / "info.json").write_text(json.dumps({"problem": {"description": "Measure many lengths."}}))
    (folder / "initial_code" / "deepevolve_interface.py").write_text(INTERFACE)
    (folder / "initial_code" / "main.py").write_text(PROGRAM.format("1"))
    return folder


def test_the_interface_scores_a_program_that_cannot_reach_it(tmp_path: Path, task: Path):
    settings = {"problem__path": str(task), "search__repeats": 0, "logging__report": False}
    with swarm_evo.open(problem="script", budget={"steps": 3}, project_dir=tmp_path, **settings) as run:
        better = run.tell(run.ask(), code=PROGRAM.format("1, 4, 6"))
        broken = run.tell(run.ask(), code=PROGRAM.format("None"))
        prompt = str(run.ask())
        start = run.nodes()[0]
    assert (start["metric"], better["metric"], better["metric_source"]) == (1, 6, "verified")
    assert better["metrics"]["length"] == 6 and "4 marks" in prompt and "Measure many lengths." in prompt
    assert broken["failure"] == "bad_submission" and "TypeError" in broken["message"]


def test_what_the_program_checks_itself_is_told_and_programs_of_several_files_are_refused(cli: Cli, task: Path):
    ended = cli.here("run", "--problem", "script", f"problem.path={task}", "search.max_steps=1", "logging.report=false")
    assert ended.code == 0 and "is the program's to change (marks)" in ended.err, ended.err
    interface = task / "initial_code" / "deepevolve_interface.py"
    interface.write_text(INTERFACE.replace("import marks", "import *"))
    ended = cli.here("run", "--problem", "script", f"problem.path={task}", "search.max_steps=1")
    assert ended.code == 2 and "one file whose names it imports" in ended.line
    interface.write_text(INTERFACE)
    (task / "initial_code" / "solver.py").write_text("")
    ended = cli.here("run", "--problem", "script", f"problem.path={task}", "search.max_steps=1")
    assert ended.code == 2 and "main.py, solver.py: --problem command" in ended.line
