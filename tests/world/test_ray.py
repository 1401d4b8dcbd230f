"""A search on a Ray cluster of this machine: the same journal as locally. Skipped where Ray is not installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="the extra [ray] is not installed")
MAIN = Path(__file__).resolve().parent.parent.parent / "main.py"


def search(folder: Path, *words: str) -> dict:
    command = [sys.executable, str(MAIN), "run", "--json", "--problem.name=diabetes", "--search.max_steps=2"]
    done = subprocess.run(
        [*command, f"--project.dir={folder}", *words], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_equal_journals_here_and_on_ray(tmp_path):
    here = search(tmp_path / "here")
    there = search(tmp_path / "there", "--execution.runner=ray", "--execution.ray.num_cpus=2")
    assert there["journal_sha256"] == here["journal_sha256"]
    assert there["metric_source"] == "verified"
