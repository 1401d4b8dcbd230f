"""A sandbox in a folder with any name, in what programs are shown, opened by whoever keeps files to himself."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from core.contracts import Limits
from core.executor.inside import landlock
from core.executor.server import ServerConfig, own_python, private_folder
from core.executor.tree_run import run_on_base
from core.executor.warm import WarmSandbox
from utils.scratch_folders import hold, is_left

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")
LIMITS = Limits(seconds=20, memory_mb=256, disk_mb=16, processes=8, output_kb=16)
LOOKS = """
import os, sys
for path in (sys.argv[1], "/dev/null", "a.txt"):
    try:
        print(open(path).read(), os.path.exists(path), end=" ")
    except OSError as error:
        print(os.path.exists(path), end=" ")
"""


@pytest.mark.parametrize("tier", ["warm", "lite"])
def test_a_program_there_sees_its_own_files_and_nobody_elses(tier: str, tmp_path: Path) -> None:
    """The project lies in what is shown, as below /usr. A comma ends a word of a mount's, a umask closes folders."""
    if tier == "lite" and not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    project = tmp_path / "a,b\\c"
    other, base = project / "workspaces" / "another run", project / "workspaces" / "base"
    for folder in (other, base):
        folder.mkdir(parents=True)
    (other / "submission.csv").write_text("not yours")
    (base / "a.txt").write_text("yours")
    before = os.umask(0o077)
    try:
        config = ServerConfig(tier, own_python(), (), private_folder(project / "workspaces"), show=(str(project),))
        sandbox = WarmSandbox(config)
        words = [own_python(), "-c", LOOKS, str(other / "submission.csv")]
        with run_on_base(
            sandbox, words, base=base, files={}, scratch=project / "workspaces" / "job", limits=LIMITS
        ) as ran:
            assert ran.result.term_out == "False  True yours True ", (ran.result.message, ran.result.term_out)
        assert not is_left(config.state_dir)
        sandbox.close()
    finally:
        os.umask(before)


def test_a_folder_goes_when_nobody_holds_it(tmp_path: Path) -> None:
    """On another machine that shares the disk, or in another container, a process with any number may hold it."""
    place = tmp_path / "sandbox-999999999-00"
    place.mkdir()
    lock = hold(place)
    private_folder(tmp_path)
    assert place.exists()
    os.close(lock)
    private_folder(tmp_path)
    assert not place.exists()
