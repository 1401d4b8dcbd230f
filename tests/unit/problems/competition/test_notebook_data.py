"""Where the exported notebook looks for the user's data: its first cell, run as it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from problems.competition.notebook import _FIND, write_notebook
from utils.errors import ConfigError

FILES = ["train.csv", "test.csv"]


def found(at: Path, times: int = 1, **environment: str) -> str:
    """What the cell prints; the program then writes its `input/`, as the cells after it do."""
    written = "".join(f"Path('input', {name!r}).write_text('ours')\n" for name in FILES)
    cell = _FIND.format(files=FILES).replace("import pandas as pd\n", "").replace("/kaggle/", f"{at}/no-kaggle/")
    words = [sys.executable, "-c", (cell + written) * times]
    done = subprocess.run(words, cwd=at, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("place", ["data", "deep/er/data", "."])
def test_its_own_folder_of_a_run_before_is_never_the_data(tmp_path: Path, place: str) -> None:
    data = tmp_path / place
    data.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (data / name).write_text("theirs")
    for times in (1, 2, 1):
        assert found(tmp_path, times) == f"data: {data}\n" * times
    assert all((data / name).read_text() == "theirs" for name in FILES)
    assert not (tmp_path / "kaggle_working" / "kaggle_working").exists()


def test_working_where_the_data_lie(tmp_path: Path) -> None:
    """As on Kaggle, whose notebooks begin in the folder that they work in."""
    for name in FILES:
        (tmp_path / name).write_text("theirs")
    for _ in range(2):
        assert found(tmp_path, SWARM_EVO_WORKING=".") == f"data: {tmp_path}\n"


def test_a_program_that_reads_a_table_of_several_files_has_no_notebook(tmp_path):
    """There is no such file beside the user's tables."""
    prepared = SimpleNamespace(meta={"joined_tables": ["loans.csv"]})
    source = SimpleNamespace(request={"kind": "own"}, name="mine")
    node = SimpleNamespace(code="loans = pd.read_csv('input/loans.csv')\n")
    with pytest.raises(ConfigError, match=r"loans\.csv, which the program reads, is made of other files"):
        write_notebook(node, tmp_path / "solution.ipynb", "", source, prepared)
