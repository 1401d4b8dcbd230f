"""The process that works on a run written from outside: starting it, talking to it, hearing that it is gone."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from swarm_evo.arguments import CALL
from swarm_evo.child import command, environment, starting
from swarm_evo.errors import SearchError
from swarm_evo.language import in_python

SOCKET, LOCK = "tickets.sock", "run.lock"
"""In a run's folder: where its process answers, and what it keeps locked while it works on the run."""
_END = 10.0
"""Seconds that a process has to end in good order, whose start was stopped."""


def started(words: list[str]) -> tuple[str, subprocess.Popen[bytes]]:
    """Start the run's process; the run's name once it can be asked. What it says if it cannot start is the error."""
    with _scratch_folder() as scratch:
        ready, said = scratch / "ready", scratch / "said"
        with said.open("wb") as log, starting():
            child = subprocess.Popen(
                command([*words, "--json", f"--ready={ready}"]),
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, start_new_session=True,
                env=environment(words),
            )  # fmt: skip
        try:
            while not (ready.is_file() and ready.read_text()):
                if child.poll() is not None:
                    lines = said.read_text(errors="replace").strip().splitlines()
                    said_last = in_python(lines[-1]) if lines else f"the run ended with exit code {child.returncode}"
                    raise SearchError(said_last, child.returncode)
                time.sleep(0.02)
        except KeyboardInterrupt:  # the stop button: nobody would ever ask this run
            child.terminate()
            with suppress(subprocess.TimeoutExpired):
                child.wait(_END)
            raise
        return ready.read_text(), child


@contextmanager
def _scratch_folder() -> Iterator[Path]:
    """A temporary folder that is locked as those of the application: where a kill leaves it, a run sweeps it."""
    with tempfile.TemporaryDirectory(prefix="swarm-evo-") as folder, open(Path(folder, ".in-use"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Path(folder)


def is_held(lock: Path) -> bool:
    """True while a process works on the run."""
    with suppress(FileNotFoundError), lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def call(folder: Path, request: Mapping[str, Any]) -> dict[str, Any] | None:
    """One line of JSON to the process that holds the run, and its answer; None where none does."""
    with suppress(OSError):
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(CALL + 15)
                client.connect(f"/proc/self/fd/{place}/{SOCKET}")  # its own path may be too long for a socket
                client.sendall(json.dumps(request).encode() + b"\n")
                line = client.makefile("rb").readline()
        finally:
            os.close(place)
        if line.endswith(b"\n"):
            found: dict[str, Any] = json.loads(line)
            return found
    return None
