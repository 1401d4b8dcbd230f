"""What lies above the folder that programs see is told with what shows it to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.beginning.unreachable_paths import out_of_reach
from utils.config_problem import ProblemConfig


@pytest.fixture
def task(tmp_path: Path) -> Path:
    task = tmp_path / "checkout" / "examples" / "ruler"
    task.mkdir(parents=True)
    (task / "initial.py").write_text("MARKS = [0, 1, 3]\n")
    (task / "own.py").write_text("")
    above = tmp_path / "checkout"
    (above / "data" / "ruler").mkdir(parents=True)
    (above / "data" / "ruler" / "lengths.csv").write_text("6\n")
    (above / "own.py").write_text("")
    (above / "scale.py").write_text("SCALE = 2\n")
    return task


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: 'data/ruler/lengths.csv'", "data/ruler/lengths.csv"),
        ("Traceback …\nRuntimeError: Could not find data/ruler\n", "data/ruler"),
        ("ModuleNotFoundError: No module named 'scale'", "scale.py"),
    ],
)
def test_a_name_that_is_there_above_is_told_with_the_whole(task: Path, told: str, name: str):
    said = out_of_reach(ProblemConfig(source=str(task), editable="initial.py, more/*.py"), told)
    above = task.parent.parent
    assert said.startswith(f"; {name} lies in {above}, of which programs see examples/ruler/ alone: ")
    assert f"--problem.source={above} " in said
    assert "--problem.editable=examples/ruler/initial.py,examples/ruler/more/*.py " in said


@pytest.mark.parametrize(
    "told",
    [
        "ModuleNotFoundError: No module named 'own'",  # it is in the folder, too
        "ModuleNotFoundError: No module named 'torch'",
        "data/ruler was read",
        "",
    ],
)
def test_what_was_not_missed_or_is_nowhere_is_not_told(task: Path, told: str):
    assert not out_of_reach(ProblemConfig(source=str(task), editable="initial.py"), told)
    assert not out_of_reach(ProblemConfig(source=str(task / "initial.py")), "no such file: data/ruler")
