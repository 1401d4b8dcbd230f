"""The oldest pandas that `pyproject.toml` allows, where the user's environment holds packages to it.

`SWARM_EVO_TEST_PANDAS` names an interpreter with it and all else that Swarm-Evo needs.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

PYTHON = os.environ.get("SWARM_EVO_TEST_PANDAS", "")
MAIN = Path(__file__).parents[2] / "main.py"

pytestmark = pytest.mark.skipif(not PYTHON, reason="SWARM_EVO_TEST_PANDAS names no interpreter")


@pytest.mark.timeout(300)
def test_own_data_are_read_and_searched(tmp_path: Path) -> None:
    """Each set ended with a traceback: `select_dtypes` knows no "str" there."""
    rows = [f"F{i},{20 + i * 37 % 90},{['Ulm', 'Bonn'][i % 2]},{1000 + i * 37 % 90 * 20}" for i in range(120)]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "train.csv").write_text("\n".join(["flat,size,town,rent", *rows]))
    words = [PYTHON, str(MAIN), f"--data.dir={tmp_path / 'data'}", "--data.target=rent", "--data.metric=mae"]
    words += ["--search.max_steps=1", f"--project.dir={tmp_path}"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    assert "final score" in done.stdout and "Warning" not in done.stderr
