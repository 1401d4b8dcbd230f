"""What the fork server does for its own start is not seen by the programs that are forked from it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing

from core.contracts import Limits
from core.executor.sandbox import open_sandbox

LIMITS = Limits(seconds=30, memory_mb=512)


def test_programs_collect_garbage_as_python_does(tmp_path):
    (tmp_path / "workspace").mkdir()
    told = "import gc; print(gc.isenabled(), *gc.get_threshold())"
    usual = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout
    with closing(open_sandbox("auto", preload=("decimal",), state_dir=tmp_path / "state")) as sandbox:
        result = sandbox.run(told, workspace=tmp_path / "workspace", limits=LIMITS)
    assert result.term_out == usual
