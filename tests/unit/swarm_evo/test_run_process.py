"""The process of a run that is written from outside, where its start does not come to its end."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.command_line import ROOT

from swarm_evo import run_process
from swarm_evo.errors import SearchError
from utils.scratch_folders import sweep

HOLD = """
import sys, tempfile, time
sys.path.insert(0, sys.argv[1])
tempfile.tempdir = sys.argv[2]
from swarm_evo.run_process import _scratch_folder
with _scratch_folder() as place:
    print(place, flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_what_a_killed_start_left_is_swept_by_the_next_run(tmp_path):
    words = [sys.executable, "-c", HOLD, str(ROOT), str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        left = Path(child.stdout.readline().strip())
        assert sweep() == 0 and left.is_dir(), "its process lives"
        child.kill()
        child.wait()
    assert sweep() == 1 and not left.exists()


def test_a_start_that_the_stop_button_ends_leaves_no_process(tmp_path, monkeypatch):
    """It went on for as long as `idle` says, and what had been kept for it was dropped."""
    began: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def interrupted(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(run_process, "command", lambda words: [sys.executable, "-c", "import time; time.sleep(60)"])
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **more: began.append(popen(*words, **more)) or began[-1])
    monkeypatch.setattr(run_process, "time", SimpleNamespace(sleep=interrupted))
    with pytest.raises(KeyboardInterrupt):
        run_process.started(["run"])
    assert [child.poll() is not None for child in began] == [True]
    assert not list(tmp_path.iterdir())


def test_a_process_that_cannot_start_says_why_in_its_last_line(tmp_path, monkeypatch):
    program = "import sys; sys.exit('swarm-evo: first\\nswarm-evo: no such problem')"
    monkeypatch.setattr(run_process, "command", lambda words: [sys.executable, "-c", program])
    with pytest.raises(SearchError, match="no such problem"):
        run_process.started(["run"])
    assert not list(tmp_path.iterdir())
