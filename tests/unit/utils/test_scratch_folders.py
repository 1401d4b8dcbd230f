"""Temporary folders: gone at the end, swept where a kill left them, never taken from a living process."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support.command_line import ROOT

from utils.scratch_folders import PREFIX, scratch_folder, sweep

TOPS = ("agents", "cli", "core", "dashboard/server", "problems", "reports", "runs", "swarm_evo", "utils")
LOCKED = {"utils/scratch_folders.py", "utils/users_folder.py", "swarm_evo/run_process.py"}
"""Where all of them are made."""
IN_CHILDREN = (
    "problems/competition/grader/", "problems/instance_forms.py", "problems/script/candidates.py",
    "problems/script/instances.py",
)  # fmt: skip
"""What runs where the temporary folder is one that goes with the process: by a grader, a sandbox, a judging process."""
HOLD = """
import sys, tempfile, time
sys.path.insert(0, sys.argv[1])
tempfile.tempdir = sys.argv[2]
from utils.scratch_folders import scratch_folder
with scratch_folder("swarm-evo-writer-") as place:
    (place / "program.py").write_text("x = 1")
    print(place, flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_a_folder_of_a_killed_process_is_swept_and_a_living_ones_stays(tmp_path):
    words = [sys.executable, "-c", HOLD, str(ROOT), str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child, scratch_folder(f"{PREFIX}own-") as mine:
        assert child.stdout is not None
        left = Path(child.stdout.readline().strip())
        (tmp_path / f"{PREFIX}link").symlink_to(mine)
        (tmp_path / f"{PREFIX}foreign").mkdir()
        assert sweep() == 0 and left.is_dir()
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert sweep() == 1 and not left.exists()
        assert mine.is_dir() and (tmp_path / f"{PREFIX}foreign").is_dir(), "what is not ours, or is in use, stays"
    assert not mine.exists()


def test_every_temporary_folder_of_ours_can_be_swept():
    """Those of killed evaluators and of a sandbox's tests stayed: only of what is locked it is known."""
    made = re.compile(r"(?:mkdtemp|mkstemp|TemporaryDirectory|NamedTemporaryFile)\((?![^)]*\bdir=)")
    found = {path for top in TOPS for path in (ROOT / top).rglob("*.py") if made.search(path.read_text("utf-8"))}
    names = {str(path.relative_to(ROOT)) for path in found}
    assert {name for name in names if not name.startswith(IN_CHILDREN)} == LOCKED
