"""AIDE's own two tasks, unmodified and without a model: what is to be predicted stands in their files and texts.

They are looked for where `AIDE` says (a checkout of github.com/WecoAI/aideml), else fetched; nothing of them is kept.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

MAIN = Path(__file__).resolve().parent.parent.parent / "main.py"
SOURCE = "https://github.com/WecoAI/aideml"


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = Path(os.environ.get("AIDE") or tmp_path_factory.mktemp("aide"))
    if "AIDE" not in os.environ:
        try:
            words = ["git", "clone", "-q", "--depth=1", SOURCE, str(folder)]
            subprocess.run(words, check=True, capture_output=True, timeout=120)
        except (OSError, subprocess.SubprocessError):
            pytest.skip(f"{SOURCE} cannot be fetched here; name a checkout in AIDE")
    yield folder / "aide/example_tasks"


@pytest.mark.parametrize(
    ("name", "read", "low", "high"),
    [
        ("house_prices", {"target": "SalePrice", "metric": "rmsle", "split": "random"}, 0.08, 0.2),
        ("bitcoin_price", {"target": "Close", "metric": "rmsle", "split": "time:Date"}, 0.0, 1.0),
    ],
)
def test_a_task_is_searched_and_graded(
    tasks: Path, tmp_path: Path, name: str, read: dict[str, str], low: float, high: float
):
    words = ["run", "--json", "--problem", "script", f"--problem.path={tasks / name}", "--search.max_steps=1"]
    done = subprocess.run(
        [sys.executable, str(MAIN), *words, "--logging.report=false", "--search.ensemble=false"],
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert {key: found["config"]["data"][key] for key in read} == read
    assert found["metric_source"] == "verified" and low < found["best_metric"] < high
