"""The candidate's process: the last of our code before untrusted code takes over.

Everything here runs with what the candidate may do, or is about to. Nothing that it sends is believed.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import io
import json
import linecache
import os
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from types import CodeType, ModuleType, TracebackType
from typing import Any, NoReturn

from . import bubble, confine, kernel, landlock, mounts
from .interpreter import Interpreter
from .messages import Job, Start

FILE = f"{mounts.WORKSPACE}/solution.py"
"""Where a program believes itself to be, in tracebacks of every tier."""
PRELUDE = f"{mounts.WORKSPACE}/prelude.py"
CHANNEL = 3
BEGUN = b"b"
"""What a pipe to the supervisor holds once a program begins: it has never had that pipe itself."""
Serve = Callable[["CodeType | None", Job], NoReturn]
"""(prelude as code, job) → never returns."""
_REPORT_BYTES = 32_000
_MAX_FRAMES = 30
_FRAME_CHARACTERS = 300
"""Of a file's name, a function's or a line: no more of them is read."""
_USUAL = 1 << 16
"""Bytes that hold what is its own of most jobs."""


def run(start: Start, interpreter: Interpreter, serve: Serve) -> NoReturn:
    """Become the candidate: never returns.

    Args:
        serve: holds a session.
    """
    setup = start.setup
    try:
        job = start.job.with_own(_read_own(start.own))
        link, began = _take_descriptors(start)
        os.setsid()
        if os.getpriority(os.PRIO_PROCESS, 0) < start.nice:  # somebody may have lowered ours meanwhile
            os.setpriority(os.PRIO_PROCESS, 0, start.nice)
        os.umask(0o022)
        os.chdir(setup.home)
        _write_program(job)
        if setup.tier == "bubblewrap":
            confine.pin(job.limits)
            bubble.execute(job, setup, start.layout, began)
        confine.confine(start, link)
        interpreter.settle(job, setup.home, setup.tier)
        _tell_begun(began)
    except BaseException as error:  # noqa: BLE001 - our own failure, told as such by an exit code of its own
        _give_up(error)
    prelude = start.prelude
    del start, setup, link, began, interpreter
    _begin(job, prelude, serve)


def run_fresh(job: Job, layout: mounts.Layout, serve: Serve) -> NoReturn:
    """The same in a fresh interpreter whose namespaces and filter somebody else has made."""
    try:
        os.set_inheritable(CHANNEL, False)
        began = CHANNEL + 1
        os.dup2(bubble.BEGAN, began, inheritable=False)
        _close_from(began + 1)
        confine.limit(job.limits, own_space=True, gpus=bool(layout.devices), private=confine.private_memory())
        confine.limit_files()
        landlock.restrict(confine.rules(layout))
        Interpreter().settle(job, mounts.WORKSPACE, "bubblewrap")
        _tell_begun(began)
    except BaseException as error:  # noqa: BLE001 - as above
        _give_up(error)
    _begin(job, compiled(job.prelude, PRELUDE), serve)


def _tell_begun(began: int) -> None:
    os.write(began, BEGUN)
    os.close(began)


def _give_up(error: BaseException) -> NoReturn:
    os.write(2, f"the sandbox could not be set up: {type(error).__name__}: {error}\n".encode())
    os._exit(125)


def _begin(job: Job, prelude: CodeType | None, serve: Serve) -> NoReturn:
    if job.kind == "command":
        _execute(job.argv)
    if job.kind == "session":
        serve(prelude, job)
    _run_script(job.code)


def _take_descriptors(start: Start) -> tuple[socket.socket | None, int]:
    """Put 0, 1, 2, 3 in their places, the rules or the link to the supervisor behind them, and close everything else.

    Returns that link, if there is one, and where the pipe is now that hears of the program's begin.
    """
    fds = [*start.fds] + ([] if start.link is None else [start.link.detach()])
    fds += [] if start.rules is None else [start.rules]
    fds.append(start.began)
    copies = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, len(fds)) for fd in fds]
    for index, copy in enumerate(copies):
        os.dup2(copy, index, inheritable=index < CHANNEL)
    _close_from(len(fds))
    return None if start.link is None else socket.socket(fileno=CHANNEL + 1), len(fds) - 1


def _read_own(fd: int) -> bytes:
    data = os.pread(fd, _USUAL, 0)
    return data if len(data) < _USUAL else os.pread(fd, os.fstat(fd).st_size, 0)


def _close_from(first: int) -> None:
    """Close every descriptor from `first` on; the limit of their number may be huge."""
    try:
        kernel.syscall("close_range", first, 0xFFFFFFFF, 0)
    except OSError:  # before Linux 5.9
        os.closerange(first, max(map(int, os.listdir("/proc/self/fd"))) + 1)


def _write_program(job: Job) -> None:
    """A script lies in its workspace, so that a process it spawns can import it."""
    if job.kind == "script":
        with open("solution.py", "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(job.code)


def _execute(argv: Sequence[str]) -> NoReturn:
    try:
        os.execvpe(argv[0], list(argv), os.environ)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os._exit(127)


def _run_script(source: str) -> NoReturn:
    main = ModuleType("__main__")
    main.__dict__.update(__file__=FILE, __builtins__=__builtins__)
    sys.modules["__main__"] = main
    code = 0
    try:
        execute(source, FILE, main)
    except SystemExit as error:
        code = _exit_code(error)
        if code:
            report(error)
    except BaseException as error:  # noqa: BLE001 - whatever the program raised is its result
        code = 1
        show(error)
        report(error)
    finish(code)


def compiled(source: str, file: str) -> CodeType | None:
    """The code of a prelude, ahead of its candidates; None where there is none, or it does not compile."""
    try:
        return compile(source, file, "exec", dont_inherit=True) if source else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def execute(source: str, file: str, module: ModuleType, code: CodeType | None = None) -> None:
    """Run `source`, compiled or not yet, in the module's namespace; its lines are known to tracebacks."""
    linecache.cache[file] = (len(source), None, list(io.StringIO(source, newline=None)), file)
    exec(code or compile(source, file, "exec", dont_inherit=True), module.__dict__)


def finish(code: int) -> NoReturn:
    """End as an interpreter does, but without tearing down what the fork server built."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        gc.collect()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - the program's own handlers
        pass
    os._exit(code & 255)


def _exit_code(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 255
    os.write(2, f"{error.code}\n".encode(errors="backslashreplace"))
    return 1


def show(error: BaseException) -> None:
    """Print the traceback as an interpreter would, without our frames."""
    try:
        sys.stdout.flush()
        traceback.print_exception(type(error), error, _own_frames(error.__traceback__), file=sys.stderr)
    except BaseException:  # noqa: BLE001 - a hostile __str__ or a broken stderr
        pass


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_code.co_filename not in (FILE, PRELUDE):
        trace = trace.tb_next
    return trace


def describe(error: BaseException) -> dict[str, Any]:
    """The exception as plain data: type, arguments as text, frames as [file, line, function, text]."""
    own = _own_frames(error.__traceback__)
    if isinstance(error, SyntaxError) and own is None:
        frames = [[error.filename or FILE, error.lineno or 0, "<module>", (error.text or "").strip()]]
    else:
        frames = [[f.filename, f.lineno or 0, f.name, f.line or ""] for f in traceback.extract_tb(own)[-_MAX_FRAMES:]]
    for frame in frames:
        frame[0] = "solution.py" if frame[0] == FILE else frame[0]
        frame[:] = (part[:_FRAME_CHARACTERS] if isinstance(part, str) else part for part in frame)
    try:
        args = [str(argument)[:500] for argument in error.args[:5]]
        text = str(error)[:1000]
    except BaseException:  # noqa: BLE001 - a hostile __str__
        args, text = [], ""
    compiled = isinstance(error, (SyntaxError, ValueError)) and own is None
    code = error.errno if isinstance(error, OSError) else None
    return {
        "type": type(error).__name__, "args": args, "text": text, "errno": code, "traceback": frames,
        "syntax": compiled,
    }  # fmt: skip


def report(error: BaseException) -> None:
    """Tell the host what ended the program; one write, so that a full pipe cannot hang us. Of a long trace the end."""
    try:
        told = describe(error)
        while len(data := json.dumps(told).encode()) > _REPORT_BYTES:
            if len(told["traceback"]) > 1:
                del told["traceback"][0]
            else:  # its own words alone are too long
                told |= {"type": told["type"][:_FRAME_CHARACTERS], "args": [], "text": told["text"][:_FRAME_CHARACTERS]}
        os.write(CHANNEL, data)
    except BaseException:  # noqa: BLE001 - the program may have closed or broken anything
        pass
