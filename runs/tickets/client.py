"""Asking a run for tickets from another process: by its socket where a process holds the run, else from its store.

Where nobody holds a run that can go on, a process is started for it; it ends by itself when nobody comes for a while.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path
from typing import Any

from core.storage.held import is_held
from runs.run_folder import check_own
from runs.tickets.names import LONGEST_CALL, refused, whole
from runs.tickets.server import call
from utils.apart import start_apart
from utils.errors import SwarmEvoError, UnknownRunError

IDLE = 120.0
"""Seconds without a call after which a process that was started for tickets ends."""
START = 30.0
"""Seconds in which such a process must be there."""
TAKEN_UP = "nobody worked on the run: it had been stopped, or had waited too long; with this request it goes on"
MAIN = Path(__file__).resolve().parent.parent.parent / "main.py"
_STARTING: dict[Path, subprocess.Popen[bytes]] = {}
"""Those of which nobody has heard yet: who asks again waits for the same."""
_LOCK = threading.Lock()


def ask_the_run(
    run_dir: Path, request: Mapping[str, Any], *, seconds: float = inf, waiting: Callable[[], None] = lambda: None
) -> dict[str, Any]:
    """The answer to `request`, whoever holds the run.

    Args:
        seconds: that it may take. Then it is refused, to be asked again: nothing was done, or doing it twice is once.
        waiting: called now and then while the run is taken up.

    Raises:
        ConfigError: the run is written by somebody else. UnknownRunError: it was killed before it began.
        SwarmEvoError: no process could be started.
    """
    end = time.monotonic() + seconds
    for _ in range(5):  # the process that held the run may have ended just now, or be about to
        found = call(run_dir, request, max(0.1, min(LONGEST_CALL + 10, end - time.monotonic())))
        if found is not None:
            is_ours = _STARTING.pop(run_dir, None) is not None
            return {**found, "warnings": [*found.get("warnings", ()), TAKEN_UP]} if is_ours else found
        from runs.tickets.stored_answers import answer_of_the_store  # a second of processor time, seldom needed

        try:
            known = answer_of_the_store(run_dir, request)
        except UnknownRunError:
            if not is_held(run_dir):
                raise
            known = None  # it is just beginning
        if known is not None:
            return known
        _wait_for_process(run_dir, min(end, time.monotonic() + START), waiting)
        if time.monotonic() >= end:
            verb = str(request.get("verb"))
            return whole(refused(f"run {run_dir.name} is being taken up, which takes a while: {verb} again", verb))
    raise SwarmEvoError(f"run {run_dir.name}: the process that holds it does not answer; see {run_dir / 'system.log'}")


def _wait_for_process(run_dir: Path, until: float, waiting: Callable[[], None]) -> None:
    """Wait until somebody holds the run and answers, or has just let go of it; where nobody does one is started."""
    child = _starting(run_dir)
    while (left := until - time.monotonic()) > 0 and call(run_dir, {"verb": "hello"}, min(5.0, left)) is None:
        if child is None and not is_held(run_dir):  # the process that held it was just ending
            return
        if child is not None and child.poll() is not None:
            _STARTING.pop(run_dir, None)
            said = (run_dir / "tickets.log").read_text(errors="replace").strip().splitlines()
            if child.returncode == 0 or is_held(run_dir):  # it has ended the run, or another process was faster
                return
            raise SwarmEvoError(said[-1].removeprefix("swarm-evo: ") if said else "the run could not be taken up")
        waiting()
        time.sleep(0.05)


def _starting(run_dir: Path) -> subprocess.Popen[bytes] | None:
    """The process of ours that takes the run up, apart from this one; None where another holds it."""
    with _LOCK:
        if run_dir in _STARTING or is_held(run_dir):
            return _STARTING.get(run_dir)
        command = [sys.executable, str(MAIN), "resume", run_dir.name, f"--idle={IDLE:g}"]
        command.append(f"project.dir={run_dir.resolve().parent.parent}")
        check_own(run_dir)
        with (run_dir / "tickets.log").open("wb") as log:
            child = start_apart(command, log)
        _STARTING[run_dir] = child
        return child
