"""Plots and report are made by a child process: matplotlib and the whole journal never weigh on the search's own."""

from __future__ import annotations

import os
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
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": ""}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)
    except subprocess.TimeoutExpired as error:
        raise SwarmEvoError(f"plots and report of {run_dir.name}: not done after {timeout:g} s") from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise SwarmEvoError(f"plots and report of {run_dir.name}: {last}")
    return [Path(line) for line in done.stdout.splitlines()]
