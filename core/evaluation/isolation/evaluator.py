"""A user's evaluator in a trusted process of its own, and what it said about one candidate."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from core.contracts import ExecutionResult
from core.executor.inside import frames
from utils.errors import JobLost

_SCRIPT = Path(__file__).parent / "evaluator_server.py"
_ANSWER_SECONDS = 30.0
"""A server that is loaded forks in milliseconds; one that takes so long is stuck."""
_GONE_SECONDS = 0.2
"""Its forks end with it, some even before."""


class EvaluatorRun(BaseModel):
    """What an evaluator said about a candidate. Plain JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: Any = None
    """What it returned, as JSON data; numbers that are not finite are texts ("nan", "inf")."""
    error: str = ""
    """The evaluator's own traceback; its fault or the candidate's, which only it can know."""
    line: str = ""
    """Exception and text, the last line of it."""
    refused: str = ""
    """Why the two could not be kept apart; `value` is then meaningless."""
    by_program: bool = False
    """It was refused for what the candidate answered, not for what the evaluator wants to do with it."""
    program: ExecutionResult | None = None
    """How the candidate failed for good (time, memory, …), or None."""
    isolated: bool = False
    """The candidate could not have reached the evaluator."""
    output: str = ""
    """What the two printed."""
    seconds: float = 0.0
    calls: int = 0
    """Of the candidate, through the proxy."""
    call_seconds: float = 0.0
    """That these calls took, their way to the sandbox and back included."""
    opened: tuple[str, ...] = ()
    """Files that the evaluator read, where it was watched."""
    classes: tuple[str, ...] = ()
    """What objects there are in the candidate, see `Proxy.classes`."""
    clocks: bool = False
    """The evaluator's code names a clock, where it was watched: its score may be a time."""


class EvaluatorUnusable(Exception):
    """The evaluator cannot be loaded: a matter of its own environment, not of any candidate.

    Args:
        line: exception and text.
        trace: the whole traceback.
        python: the interpreter that it was loaded by.
    """

    def __init__(self, line: str, trace: str, python: str) -> None:
        super().__init__(f"the evaluator cannot be loaded by {python}: {line}")
        self.line, self.trace, self.python = line, trace, python


class EvaluatorServer:
    """An evaluator that is loaded, ready to be forked for each candidate. Thread-safe.

    Args:
        evaluator: the file, and `function` in it, called with the path of a candidate.
        python: the interpreter it runs in.
        watch: note which files it reads and whether it names a clock; such a server serves one evaluation.
        seconds: within which it must be loaded.
    """

    def __init__(self, evaluator: Path, function: str, python: str, *, watch: bool = False, seconds: float) -> None:
        self._control, theirs = socket.socketpair()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        self._lock = threading.Lock()
        self._python = python
        command = [python, "-s", str(_SCRIPT), str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
                start_new_session=True, cwd=evaluator.parent,
            )  # fmt: skip
        self.hinders = ""
        """Why each evaluation needs a process of its own; '' if it can be a fork of this one."""
        try:
            self.hinders = self._load({"evaluator": str(evaluator), "function": function, "watch": watch}, seconds)
        except BaseException:
            self.close()
            raise

    def start(self, task: dict[str, Any], fds: Sequence[int]) -> int:
        """Begin an evaluation with the session's channel, our report socket and the file of its output; its pid."""
        with self._lock:
            try:
                self._control.settimeout(_ANSWER_SECONDS)
                frames.send(self._control, task, list(fds))
                received = frames.receive(self._control)
            except OSError:
                received = None
        if received is None:
            raise self._lost()
        return int(received[0]["pid"])

    def check(self, pid: int) -> None:
        """Raises JobLost where an evaluation ended because the process that it was forked from did."""
        if self._process.pid != pid:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GONE_SECONDS)
                raise self._lost()

    def end(self, pid: int) -> None:
        """Kill what is left of an evaluation."""
        if self._process.pid != pid and self._process.poll() is None:
            _kill_group(pid)
            with self._lock:
                try:
                    frames.send(self._control, {"reap": pid})
                except OSError:
                    pass

    def close(self) -> None:
        self._control.close()
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            pass
        _kill_group(self._process.pid)
        self._process.wait()
        self._log.close()

    def _load(self, setup: dict[str, Any], seconds: float) -> str:
        self._control.settimeout(seconds)
        began = time.monotonic()
        frames.send(self._control, setup)
        received = frames.receive(self._control)
        if received is None:
            late = time.monotonic() - began >= seconds
            why = f"it was not loaded within {seconds:g} s" if late else f"it ended by itself: {self._said()}"
            raise EvaluatorUnusable(why, self._said(), self._python)
        if "error" in received[0]:
            raise EvaluatorUnusable(received[0]["line"], self._said() + received[0]["error"], self._python)
        return str(received[0]["hinders"])

    def _lost(self) -> JobLost:
        return JobLost(f"the evaluator's process is gone: {self._said()}")

    def _said(self) -> str:
        """The end of what it printed while it was loaded; '' once it is closed."""
        try:
            self._log.seek(0)
            return self._log.read()[-1000:].decode("utf-8", "replace")
        except ValueError:  # another candidate's thread lost it, too, and closed it
            return ""


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass
