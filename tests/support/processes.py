"""Waiting for things, and looking at processes."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from core.executor.inside.watch import descendants


def eventually(condition: Callable[[], Any], seconds: float = 60.0, every: float = 0.02) -> Any:
    """The first true value of `condition`; fails after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(every)
    raise AssertionError(f"not within {seconds} s: {condition}")


def is_alive(pid: int) -> bool:
    """True for a process that is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def kill_hard(child: subprocess.Popen[Any]) -> Sequence[int]:
    """SIGKILL; the processes that it had below it."""
    below = descendants(child.pid)
    child.send_signal(signal.SIGKILL)
    child.wait(60)
    return below


def survivors(pids: Sequence[int], seconds: float = 20.0) -> list[str]:
    """Command lines of those of `pids` that are still alive after `seconds`; waits no longer than needed.

    The promise is one second on an idle machine; tests share theirs.
    """
    deadline = time.monotonic() + seconds
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return [f"{pid}: {command_line(pid)}" for pid in pids if is_alive(pid)]


def running(word: str) -> list[str]:
    """Command lines of all processes that hold `word`."""
    lines = [command_line(int(path.name)) for path in Path("/proc").glob("[0-9]*")]
    return [line for line in lines if word in line]


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
