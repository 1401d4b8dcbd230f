"""From what the supervisor and the program said to a FailureKind with a line that explains it.

The supervisor's word (wait status, breach) is ours. The program's own description of its exception is untrusted: it can
only choose between ways of having failed, never turn a failure into success.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
from dataclasses import dataclass
from typing import Any

from core.contracts import Limits
from core.executor.inside import memory, mounts
from core.executor.inside.seccomp import name_of_signal
from core.state.failure import FailureKind
from utils.clean_text import one_line

_TEXT = 1000


@dataclass(frozen=True, slots=True)
class Raised:
    """The exception that ended a program, as the program told it."""

    type: str
    text: str
    args: tuple[str, ...]
    errno: int | None
    traceback: tuple[tuple[str, int, str, str], ...]
    syntax: bool

    @property
    def line(self) -> str:
        return f"{self.type}: {self.text}" if self.text else self.type

    def info(self) -> dict[str, Any]:
        return {"args": list(self.args), "traceback": [list(frame) for frame in self.traceback]}


def read_exception(data: bytes | dict[str, Any]) -> Raised | None:
    """Decode the program's description strictly; None for anything malformed."""
    try:
        value = data if isinstance(data, dict) else json.loads(data)
        frames = tuple(_frame(frame) for frame in value["traceback"][:30])
        code = value["errno"]
        return Raised(
            type=_text(value["type"], 100), text=_text(value["text"], _TEXT),
            args=tuple(_text(argument, 500) for argument in value["args"][:5]),
            errno=code if type(code) is int else None, traceback=frames, syntax=value["syntax"] is True,
        )  # fmt: skip
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None


def _frame(frame: Any) -> tuple[str, int, str, str]:
    file, line, function, text = frame
    if type(line) is not int:
        raise TypeError("a line number is an integer")
    return _text(file, 300), line, _text(function, 200), _text(text, 300)


def _text(value: Any, limit: int) -> str:
    if not isinstance(value, str):
        raise TypeError("text expected")
    return one_line(value, limit)


def judge(
    status: int | None, breach: tuple[str, str] | None, raised: Raised | None, limits: Limits
) -> tuple[FailureKind | None, str]:
    """Failure and message of a job that ended with wait `status` or was killed for `breach`; (None, '') for success."""
    if breach is not None:
        return FailureKind(breach[0]), breach[1]
    assert status is not None
    if os.WIFSIGNALED(status):
        return _by_signal(os.WTERMSIG(status), limits)
    code = os.WEXITSTATUS(status)
    if code == 0:
        return None, ""
    if raised is None or raised.type == "SystemExit":
        return FailureKind.EXIT, f"exit code {code}"
    return judge_exception(raised, limits)


def judge_exception(raised: Raised, limits: Limits) -> tuple[FailureKind, str]:
    if raised.syntax:
        return FailureKind.SYNTAX, raised.line
    if raised.type == "SystemExit":
        return FailureKind.EXIT, f"exit: {raised.text or 0}"
    if raised.type in ("MemoryError", "_ArrayMemoryError"):
        return FailureKind.MEMORY, f"memory: an allocation failed, the limit is {limits.memory_mb:,} MB ({raised.line})"
    if raised.errno == errno.EFBIG:
        return FailureKind.FILE_SIZE, f"file size: a file passed the limit of {limits.file_mb:,} MB"
    if raised.errno in (errno.ENOSPC, errno.EDQUOT):
        most = mounts.tmpfs_mb(limits.disk_mb, memory.total())
        less = f"{most:,} MB in /tmp, " if most < limits.disk_mb else ""
        told = f"disk: the limit of {limits.disk_mb:,} MB ({less}12 KiB an entry at least) is used up"
        return FailureKind.DISK, told
    refused = raised.errno == errno.EAGAIN and raised.type == "BlockingIOError"
    if refused or "can't start new thread" in raised.text:
        told = f"processes: no more could be started, the limit is {limits.processes}{_of_the_session(limits)}"
        return FailureKind.PROCESSES, told
    return FailureKind.RUNTIME, raised.line


def _of_the_session(limits: Limits) -> str:
    """The session's own limit, where it is so low that it may be the one that was reached; else ''."""
    most, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    return f" and, of all that this user runs, {most} (ulimit -u)" if 0 <= most < 2 * limits.processes else ""


def _by_signal(number: int, limits: Limits) -> tuple[FailureKind, str]:
    if number == signal.SIGXCPU:
        return FailureKind.CPU, f"CPU: one process used more than the limit of {limits.processor_seconds:g} s"
    if number == signal.SIGXFSZ:
        return FailureKind.FILE_SIZE, f"file size: a file passed the limit of {limits.file_mb:,} MB"
    told = ": by itself, or by the machine, which ends programs where memory runs out"
    why = told if number == signal.SIGKILL else ""
    return FailureKind.SIGNAL, f"killed by {name_of_signal(number)}{why}"


def exit_code(status: int | None) -> int | None:
    """As subprocess has it: negative for a signal; None when we killed it."""
    return None if status is None else os.waitstatus_to_exitcode(status)
