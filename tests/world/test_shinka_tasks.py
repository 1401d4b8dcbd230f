"""Shinka's own tasks, unmodified, each by one command line.

They are looked for where `SHINKA` says (a checkout), else fetched from GitHub. Those whose `evaluate.py` imports the
package `shinka` run by the interpreter that `SHINKA_PYTHON` names; without it a virtual environment is made for it.
Nothing of Shinka's is kept.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.executor.toolchains import found_here

MAIN = Path(__file__).resolve().parent.parent.parent / "main.py"
SOURCE = "https://github.com/SakanaAI/ShinkaEvolve"
PACKAGE = "shinka-evolve"


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(os.environ.get("SHINKA") or tmp_path_factory.mktemp("shinka"))
    if "SHINKA" not in os.environ:
        try:
            words = ["git", "clone", "-q", "--depth=1", SOURCE, str(folder)]
            subprocess.run(words, check=True, capture_output=True, timeout=120)
        except (OSError, subprocess.SubprocessError):
            pytest.skip(f"{SOURCE} cannot be fetched here; name a checkout in SHINKA")
    return folder / "examples"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An interpreter with Shinka's package."""
    if "SHINKA_PYTHON" in os.environ:
        return os.environ["SHINKA_PYTHON"]
    folder = tmp_path_factory.mktemp("environment")
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, capture_output=True, timeout=120)
        words = [str(folder / "bin/pip"), "install", "-q", PACKAGE]
        subprocess.run(words, check=True, capture_output=True, timeout=900)
    except (OSError, subprocess.SubprocessError):
        pytest.skip(f"{PACKAGE} cannot be installed here; name an interpreter that has it in SHINKA_PYTHON")
    return str(folder / "bin/python")


def run(task: Path, work: Path, *more: str) -> subprocess.CompletedProcess[str]:
    words = ["run", "--json", "--problem", "script", f"--problem.path={task}", "--search.max_steps=2"]
    return subprocess.run(
        [sys.executable, str(MAIN), *words, "--search.batch=1", "--logging.report=false", *more],
        cwd=work, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def searched(task: Path, work: Path, *more: str) -> dict[str, Any]:
    done = run(task, work, *more)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout))


def initial(found: dict[str, Any]) -> dict[str, Any]:
    return next(row for row in found["baselines"] if row["own"])


def test_a_task_without_the_package(tasks: Path, tmp_path: Path):
    found = searched(tasks / "sine_approx_headless", tmp_path)
    assert 0 < initial(found)["metric"] < 1 and found["best_metric"] >= initial(found)["metric"]
    assert found["config"]["execution"]["timeout"] == 180, "run_evo.py says 00:03:00"


@pytest.mark.parametrize(("name", "low", "high"), [("circle_packing", 0.9, 1.0), ("game_2048", -10, 10)])
def test_a_task_that_imports_the_package(tasks: Path, python: str, tmp_path: Path, name: str, low: float, high: float):
    found = searched(tasks / name, tmp_path, f"--execution.python={python}")
    assert low <= initial(found)["metric"] <= high, initial(found)
    assert found["config"]["problem"]["options"]["statement"].startswith("You are a"), "it stands in run_evo.py"
    assert found["metric_source"] == "verified"


@pytest.mark.parametrize(
    ("name", "compiler", "kind"),
    [
        ("go_collatz_steps", "go", "Go"),
        ("fortran_heat_diffusion", "gfortran", ""),
        ("julia_prime_counting", "julia", "Julia"),
    ],
)
def test_a_task_in_another_language(tasks: Path, tmp_path: Path, name: str, compiler: str, kind: str):
    """Without its compiler the task says itself what is missing, and that is what is told."""
    paths = ",".join(map(str, found_here().get(kind, [])))
    done = run(tasks / name, tmp_path, *([f"--execution.paths=[{paths}]"] if paths else []))
    if not shutil.which(compiler) and not paths:
        last = done.stderr.strip().splitlines()[-1]
        assert done.returncode != 0 and f"{compiler} executable not found" in last.lower(), last
        pytest.skip(f"no {compiler} here; told: {last}")
    assert done.returncode == 0, done.stderr[-2000:]
    assert initial(json.loads(done.stdout))["metric"] > 0
