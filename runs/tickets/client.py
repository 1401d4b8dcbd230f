"""Asking a run for tickets from another process: by its socket where a process holds the run, else from its store.

Where nobody holds a run that can go on, a process is started for it; it ends by itself when nobody comes for a while.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.storage.held import is_held
from runs.tickets.names import LONGEST_CALL
from runs.tickets.server import call
from utils.errors import SwarmEvoError

IDLE = 120.0
"""Seconds without a call after which a process that was started for tickets ends."""
START = 30.0
"""Seconds in which such a process must be there."""
TAKEN_UP = "nobody worked on the run: it had been stopped, or had waited too long; with this request it goes on"
MAIN = Path(__file__).resolve().parent.parent.parent / "main.py"
_STARTED: list[subprocess.Popen[bytes]] = []
"""They may outlive this process, which does not wait for them."""


def ask_the_run(run_dir: Path, request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to `request`, whoever holds the run.

    Raises:
        ConfigError: the run is written by somebody else. SwarmEvoError: no process could be started.
    """
    started = False
    for _ in range(5):  # the process that held the run may have ended just now, or be about to
        found = call(run_dir, request, LONGEST_CALL + 10)
        if found is not None:
            return {**found, "warnings": [*found.get("warnings", ()), TAKEN_UP]} if started else found
        from runs.tickets.stored_answers import answer_of_the_store  # a second of processor time, seldom needed

        known = answer_of_the_store(run_dir, request)
        if known is not None:
            return known
        started = _start(run_dir)
    raise SwarmEvoError(f"run {run_dir.name}: the process that holds it does not answer; see {run_dir / 'system.log'}")


def _start(run_dir: Path) -> bool:
    """A process that takes the run up, apart from this one; returns when its socket is open: True if it is ours."""
    if not is_held(run_dir):
        log = (run_dir / "tickets.log").open("wb")
        command = [sys.executable, str(MAIN), "resume", run_dir.name, f"--idle={IDLE:g}"]
        command.append(f"project.dir={run_dir.resolve().parent.parent}")
        with log:
            child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            )  # fmt: skip
        _STARTED[:] = [child, *(one for one in _STARTED if one.poll() is None)]
    else:
        child = None
    until = time.monotonic() + START
    while time.monotonic() < until and call(run_dir, {"verb": "hello"}, 5) is None:
        if child is None and not is_held(run_dir):  # the process that held it was just ending
            return False
        if child is not None and child.poll() is not None:
            said = (run_dir / "tickets.log").read_text(errors="replace").strip().splitlines()
            if child.returncode == 0 or is_held(run_dir):  # it has ended the run, or another process was faster
                return False
            raise SwarmEvoError(said[-1].removeprefix("swarm-evo: ") if said else "the run could not be taken up")
        time.sleep(0.05)
    return child is not None
