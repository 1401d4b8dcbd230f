"""A user's evaluator in a trusted process of its own, and what it said about one candidate."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, ConfigDict

from core.contracts import ExecutionResult
from core.evaluation.isolation import elsewhere
from core.executor.inside import frames, plain
from core.executor.server import await_end
from core.state.text import Returned, WholeText
from utils.errors import JobLost
from utils.scratch_folders import scratch_folder

_SCRIPT = Path(__file__).parent / "evaluator_server.py"
_ANSWER_SECONDS = 30.0
"""A server that is loaded forks in milliseconds; one that takes so long is stuck."""
_GONE_SECONDS = 0.2
"""Its forks end with it, some even before."""
_EXIT_SECONDS = 1.0
"""For what an evaluator's modules do at exit, after an evaluation and after all."""
_OUTPUT_BYTES = 200_000
_STAND_IN = """# The candidate is behind a proxy: this file stands in for it and must not be run or read.
open({marker!r}, "w").close()
raise SystemExit("the candidate of this evaluator is behind a proxy and cannot be run as a file")
"""
_ODD = (
    "\nif False:\n"
    + 40
    * """    # TODO: what checks of a text look for, and much of it
    import ctypes, os, pickle, shutil, socket, subprocess, sys, threading
    from math import *
    def odd(first, second=[], *others, **named):
        global anything
        anything = eval("1") or exec("1") or compile("1", "odd", "exec") or open("odd") or __import__("os").fork()
        while True: print(globals(), locals(), first.__class__.__subclasses__(), getattr(first, "odd"), undefined)
    class Odd(object):
        def __del__(self): assert False, lambda: input() ; raise SystemExit
"""
)
"""What may follow in a stand-in, and is never run: whoever scores a program by its text has another score then."""
_TOLD_LINES = 3


class EvaluatorRun(BaseModel):
    """What an evaluator said about a candidate. Plain JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: Returned = None
    """What it returned, as JSON data; numbers that are not finite are texts ("nan", "inf")."""
    error: WholeText = ""
    """The evaluator's own traceback; its fault or the candidate's, which only it can know."""
    line: WholeText = ""
    """Exception and text, the last line of it."""
    raised: bool = False
    """That exception is the program's: the evaluator let it through."""
    refused: WholeText = ""
    """Why the two could not be kept apart; `value` is then meaningless."""
    by_program: bool = False
    """It was refused for what the candidate answered, not for what the evaluator wants to do with it."""
    program: ExecutionResult | None = None
    """How the candidate failed for good (time, memory, …), or None."""
    isolated: bool = False
    """The candidate could not have reached the evaluator."""
    output: WholeText = ""
    """What the two printed."""
    seconds: float = 0.0
    calls: int = 0
    """Of the candidate, through the proxy."""
    call_seconds: float = 0.0
    """That these calls took, their way to the sandbox and back included."""
    longest_call: float = 0.0
    opened: tuple[str, ...] = ()
    """Files that the evaluator read, where it was watched."""
    classes: tuple[WholeText, ...] = ()
    """What objects there are in the candidate, see `Proxy.classes`."""
    clocks: bool = False
    """The evaluator's code names a clock, where it was watched: its score may be a time."""
    texts: bool = False
    """It names another way to the program's file than importing it (its size, its lines, another process), where what
    stands in for the program is found."""


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
    """A process that loads an evaluator when it is told to, and is then forked for each candidate. Thread-safe.

    Args:
        evaluator: the file, and `function` in it, called with the path of a candidate.
        python: the interpreter it runs in.
    """

    def __init__(self, evaluator: Path, function: str, python: str) -> None:
        self._begun = 0
        self._over: list[tuple[int, str]] = []
        """Forks that were killed, with their programs: the server clears them away with the next task."""
        self._lock, self._loading = threading.Lock(), threading.Lock()
        self._is_loaded = False
        self._unusable: EvaluatorUnusable | None = None
        self._python = python
        with ExitStack() as kept:
            self._control, theirs = (kept.enter_context(end) for end in socket.socketpair())
            self._log = kept.enter_context(tempfile.TemporaryFile())
            self._folder = str(kept.enter_context(scratch_folder("swarm-evo-evaluator-")))
            command = [python, "-s", str(_SCRIPT), str(theirs.fileno())]
            with theirs:
                self._process = subprocess.Popen(
                    command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
                    start_new_session=True, cwd=evaluator.parent,
                )  # fmt: skip
            self._kept = kept.pop_all()
        self.hinders = ""
        """Why each evaluation needs a process of its own; '' if it can be a fork of this one."""
        self._setup = {"evaluator": str(evaluator), "function": function, "folder": self._folder}

    def load(self, seconds: float, *, watch: bool = False) -> None:
        """Have it loaded within so many seconds, where it is not yet.

        Args:
            watch: note which files it reads and whether it names a clock; such a server serves one evaluation.
        Raises:
            EvaluatorUnusable: it cannot be loaded; whoever asks again is told the same.
        """
        with self._loading:
            if self._unusable is not None:
                raise self._unusable
            if not self._is_loaded:
                try:
                    self.hinders = self._load({**self._setup, "watch": watch}, seconds)
                except EvaluatorUnusable as error:
                    self._unusable = error
                    raise
                self._is_loaded = True

    def begin(self, task: dict[str, Any], channel: int, file: str, text: str | None) -> Judging:
        """Begin an evaluation, which waits for the names that its program has.

        Args:
            channel: of the program's session.
            file: what the candidate's file is called.
            text: what it holds; None: a stand-in for a program, which notes that it was run, or calls the program
                from there (`serves` of the task), with another text than usual if the task is `odd`.
        """
        report, theirs = socket.socketpair()
        output = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed in Judging.close
        with theirs, self._lock:
            self._begun += 1
            # a name of its own, since an evaluator may keep what it found by it
            folder = f"{self._folder}/{os.path.basename(self._folder)}-{self._begun}"
            over, self._over = self._over, []
            program, marker = f"{folder}/{file}", f"{folder}/was-run"
            task = {**task, "program": program, "is_text": text is not None, "over": over}
            with suppress(OSError):  # it is gone, and nobody will say anything
                frames.send(self._control, task, [channel, theirs.fileno(), output.fileno()])
        content = _stand_in(folder, marker, serves=task["serves"], odd=task["odd"]) if text is None else text
        judging = Judging(self, report, output, Path(program), Path(marker))
        judging.write(content)
        return judging

    def check(self, pid: int) -> None:
        """Raises JobLost where an evaluation ended because the process that it was forked from did."""
        if self._process.pid != pid:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GONE_SECONDS)
                raise self.lost()

    def end(self, pid: int, program: str) -> None:
        """Kill what is left of an evaluation; the folder of its program is removed later."""
        if self._process.pid != pid and self._process.poll() is None:
            _kill_group(pid)
            with self._lock:
                self._over.append((pid, program))

    def close(self) -> None:
        await_end(self._control, _EXIT_SECONDS)
        self._control.close()
        _kill_group(self._process.pid)
        self._process.wait()
        self._kept.close()

    def _load(self, setup: dict[str, Any], seconds: float) -> str:
        self._control.settimeout(seconds)  # from then on only sent to
        began = time.monotonic()
        with suppress(OSError):  # it has ended already
            frames.send(self._control, setup)
        received = frames.receive(self._control)
        if received is None:
            late = time.monotonic() - began >= seconds
            why = f"it was not loaded within {seconds:g} s" if late else f"it ended by itself{self._told()}"
            raise EvaluatorUnusable(why, self._said(), self._python)
        if "error" in received[0]:
            line = received[0]["line"]
            why = f"{line}{self._told()}" if line.startswith("SystemExit") else line  # only what it printed says why
            raise EvaluatorUnusable(why, self._said() + received[0]["error"], self._python)
        self._control.settimeout(_ANSWER_SECONDS)
        return str(received[0]["hinders"])

    def lost(self) -> JobLost:
        return JobLost(f"the evaluator's process is gone{self._told()}")

    def _told(self) -> str:
        """The last lines of what it printed, to follow a reason; '' for nothing."""
        lines = [line.strip() for line in self._said().splitlines() if line.strip()]
        return f": {' / '.join(lines[-_TOLD_LINES:])}" if lines else ""

    def _said(self) -> str:
        """The end of what it printed while it was loaded; '' once it is closed."""
        try:
            self._log.seek(0)
            return self._log.read()[-1000:].decode("utf-8", "replace")
        except ValueError:  # another candidate's thread lost it, too, and closed it
            return ""


def _stand_in(folder: str, marker: str, *, serves: bool, odd: bool) -> str:
    more = _ODD if odd else ""
    if not serves:
        return _STAND_IN.format(marker=marker) + more
    address = f"{folder}/{elsewhere.NAME}"
    return elsewhere.FILE.format(marker=marker, here=elsewhere.__file__, address=address, plain=plain.__file__) + more


class Judging:
    """One evaluation under way: a server's fork, or a server that serves no other. Not thread-safe.

    Args:
        report: our end of the socket that it reports on.
        output: what it prints.
        program: the candidate's file, in a folder of its own; not there yet.
        marker: a file that is there once a stand-in has been run.
    """

    def __init__(
        self,
        server: EvaluatorServer,
        report: socket.socket,
        output: IO[bytes],
        program: Path,
        marker: Path,
    ) -> None:
        self.marker = marker
        self._server, self._report, self._output = server, report, output
        self._program = program
        self._killed = False
        self._poll = select.poll()
        self._poll.register(report, select.POLLIN)
        self._pid: int | None = None

    def fileno(self) -> int:
        """Can be read when the report is there."""
        return self._report.fileno()

    def write(self, content: str) -> None:
        """Make the candidate's file, while the evaluator's process is forked: that may have no right to write."""
        with suppress(FileNotFoundError):  # the server is gone with its folder; the next look says so
            self._program.parent.mkdir(mode=0o700)
            self._program.write_bytes(content.encode("utf-8", "surrogateescape"))

    def name(self, names: Any, deadline: float) -> None:
        """Say what the program offers: now it is judged. Until the deadline (of `time.monotonic`) it may take them.

        Raises:
            JobLost: nobody is there any more.
        """
        self._hear_pid()
        self._report.settimeout(max(0.001, deadline - time.monotonic()))
        with suppress(OSError):  # it has ended, or does not listen; the next look says so
            frames.send(self._report, {"names": names})
        self._report.settimeout(None)

    def received(self) -> dict[str, Any] | None:
        """The report, once there is something to be read; None where it ended without one."""
        received = frames.receive(self._report)
        return None if received is None else received[0]["report"]

    def await_end(self) -> None:
        """Give it a moment for what its modules do at exit."""
        self._poll.poll(1000.0 * _EXIT_SECONDS)

    def check(self) -> None:
        """Raises JobLost where it ended because the process that it was forked from did."""
        self._server.check(self._hear_pid())

    def printed(self) -> str:
        return os.pread(self._output.fileno(), _OUTPUT_BYTES, 0).decode("utf-8", "replace")

    def kill(self) -> None:
        """End what is left of it."""
        if not self._killed:
            self._killed = True
            with suppress(JobLost):
                self._server.end(self._hear_pid(), str(self._program))

    def close(self) -> None:
        self.kill()
        self._report.close()
        self._output.close()

    def _hear_pid(self) -> int:
        if self._pid is None:
            received = frames.receive(self._report) if self._poll.poll(1000.0 * _ANSWER_SECONDS) else None
            if received is None:
                raise self._server.lost()
            self._pid = int(received[0]["pid"])
        return self._pid


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        pass
