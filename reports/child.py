"""Plots and report are made by a child process: matplotlib and the whole journal never weigh on the search's own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from utils.errors import SwarmEvoError

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 180.0


def write_all(run_dir: Path, *, timeout: float = SECONDS) -> list[Path]:
    """Write evolution.png, failures.png and report.html into the run's folder; return what was written.

    Raises:
        SwarmEvoError: the child failed or took longer than `timeout` seconds; the run itself is not touched.
    """
    command = [sys.executable, "-P", str(ROOT / "reports" / "write.py"), str(run_dir.resolve())]
    places = os.pathsep.join(filter(None, sys.path))  # packages may lie where PYTHONPATH leads, behind the library
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": places}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)
    except subprocess.TimeoutExpired as error:
        raise SwarmEvoError(f"plots and report of {run_dir.name}: not done after {timeout:g} s") from error
    if done.returncode != 0:
        raise SwarmEvoError(f"plots and report of {run_dir.name}: {_why(done, run_dir.name)}")
    return [Path(line) for line in done.stdout.splitlines()]


def _why(done: subprocess.CompletedProcess[str], name: str) -> str:
    """One line: what it said last; of a child that was killed, by what."""
    if done.returncode < 0:
        by = signal.strsignal(-done.returncode) or f"signal {-done.returncode}"
        memory = ", as where memory runs out" if done.returncode == -signal.SIGKILL else ""
        return f"the process that draws them was killed ({by}{memory}); `report {name}` writes the report again"
    return (done.stderr.strip().splitlines() or [f"exit status {done.returncode}, and no word why"])[-1]
