"""A Ray cluster of this machine: the same journal as locally; nodes lost and added. Skipped without Ray."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.scale import on_cluster

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


@pytest.mark.parametrize("add", [False, True])
def test_a_node_is_lost_and_each_job_is_told_once_in_bounded_time(add):
    """Ten seconds of work for six slots. A slot that found no room held its job for two minutes."""
    found = on_cluster(60, nodes=3, slots=6, seconds=1.0, kill=True, add=add)
    assert found.told == dict.fromkeys(range(60), 1)
    assert found.wall < 60
