"""Processes that may outlive this one, which does not wait for them."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any


def start_apart(command: Sequence[str], output: IO[bytes], folder: Path | None = None) -> subprocess.Popen[bytes]:
    """Start it in a session of its own; both its outputs go to `output`."""
    child = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
    )
    let_go(child)
    return child


def let_go(child: subprocess.Popen[Any]) -> None:
    """Wait for a process no more: a thread reads what it still says and takes its exit code, so that it is neither a
    zombie nor, when this process ends before it, a lost one to Python.
    """
    threading.Thread(target=child.communicate, name=f"reap {child.pid}", daemon=True).start()
