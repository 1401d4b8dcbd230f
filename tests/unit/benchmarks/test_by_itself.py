"""Benchmarks use what tests use, and run by themselves: without a session of tests."""

from __future__ import annotations

import os
import subprocess
import sys

from support.command_line import ROOT
from support.forked_processes import SESSION


def test_a_list_of_runs_is_measured() -> None:
    alone = {name: value for name, value in os.environ.items() if name != SESSION}
    command = [sys.executable, "-m", "benchmarks.run_list", "--runs", "3", "--rounds", "1"]
    done = subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "/api/runs" in done.stdout and "search in the page" in done.stdout
