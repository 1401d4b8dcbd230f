"""Python programs in processes that are forked from one that has loaded what they import.

To load `main.py`, or scikit-learn, takes a second or two of processor time, a fork a hundredth. A forked process has a
number, a folder, an environment and an output of its own, as one that a user starts; it lacks what Python does before
the program's first line, and a hash seed of its own.

`forked(…)` is this side; `python forked_processes.py DESCRIPTOR PATH MODULE …` is the process that loads and forks. All
workers of a session share it, since each of their own would load the same again, and so do processes forked from it.
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import functools
import gc
import hashlib
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, NamedTuple, NoReturn

MOST = 1 << 17
"""Bytes of a request: words, folder and environment. A socket takes no message that is much longer."""
_WIDTH = 16
"""Bytes of a number that is told of a process: its own first, and how it ended."""
SESSION = "SWARM_EVO_TEST_SESSION"
"""Environment variable with a name of the session of tests."""


class TookTooLong(Exception):
    """It was killed at its time limit: what it had printed by then."""


class Done(NamedTuple):
    """How a process ended."""

    returncode: int
    """Below 0 the signal that ended it."""
    stdout: str
    stderr: str


class Running:
    """A forked process."""

    def __init__(self, pid: int, told: int) -> None:
        self.pid = pid
        self._told = told
        """A descriptor that hears how it ended, and is closed then."""
        self._status: int | None = None

    def status(self, seconds: float | None) -> int | None:
        """How it ended, as `os.waitpid` has it; None where it has not within so many seconds (None: any number)."""
        if self._status is None:
            poll = select.poll()
            poll.register(self._told, select.POLLIN)
            if poll.poll(None if seconds is None else seconds * 1000):
                self._status = int(os.read(self._told, _WIDTH))
                os.close(self._told)
        return self._status

    def code(self, seconds: float) -> int | None:
        """The same as `Done.returncode`."""
        status = self.status(seconds)
        return None if status is None else os.waitstatus_to_exitcode(status)

    def signal(self, number: signal.Signals) -> None:
        if self.code(0) is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def close(self) -> None:
        """Nobody asks any more how it ended; it is killed if it has not."""
        self.signal(signal.SIGKILL)
        self.status(None)


class Forked:
    """Our end. Thread-safe: programs may run side by side. The process that forks them ends with the last that asks."""

    def __init__(self, path: str, modules: Sequence[str]) -> None:
        self._control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        atexit.register(self._control.close)
        address = _address(path, modules)
        while True:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as theirs:
                if self._is_first(theirs, address):
                    command = [sys.executable, __file__, str(theirs.fileno()), path, *modules]
                    descriptors = [theirs.fileno()]
                    subprocess.run(command, pass_fds=descriptors, stdin=subprocess.DEVNULL, cwd="/", check=True)
                    return
            with suppress(ConnectionRefusedError):  # it has its address and does not listen yet
                self._control.connect(address)
                return

    def _is_first(self, theirs: socket.socket, address: str) -> bool:
        """Take the address and be the first who waits there; False where another worker has it."""
        try:
            theirs.bind(address)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return False
        theirs.listen(64)
        self._control.connect(address)
        return True

    def run(self, program: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float) -> Done:
        """`python PROGRAM …` in that folder. Raises TookTooLong after so many seconds."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            files = {1: out.fileno(), 2: err.fileno()}
            with closing(self.start(program, folder, environment, files)) as running:
                code = running.code(timeout)
            if code is None:
                raise TookTooLong(f"{_text(out)[-2000:]}\n{_text(err)[-2000:]}")
            return Done(code, _text(out), _text(err))

    def start(
        self,
        program: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        files: Mapping[int, int],
        *,
        session: bool = False,
        group: int | None = None,
    ) -> Running:
        """The same without waiting for its end. To be closed.

        Args:
            files: the number that a descriptor has there → ours.
            session: it leads a new one.
            group: the process group that it joins; 0 for one of its own.
        """
        asked = {
            "program": list(program), "folder": str(folder), "environment": dict(environment), "numbers": list(files),
            "session": session, "group": group,
        }  # fmt: skip
        request = json.dumps(asked).encode()
        assert len(request) < MOST
        ours, theirs = os.pipe()
        try:
            socket.send_fds(self._control, [request], [*files.values(), theirs])
            return Running(int(os.read(ours, _WIDTH)), ours)
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)


@functools.cache
def forked(*modules: str, path: str = "") -> Forked:
    """The one of this process for programs that import these. `path`: a folder that their imports are sought in."""
    return Forked(path, modules)


def _address(path: str, modules: Sequence[str]) -> str:
    """Of this session and what is loaded: a name that the kernel forgets with the process that has it."""
    session = os.environ.setdefault(SESSION, str(os.getpid()))  # a benchmark is one of its own
    loaded = hashlib.sha256("\n".join([path, *modules]).encode()).hexdigest()
    return f"\0forked-{session}-{loaded[:16]}"


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


# ---------------------------------------------------------------- the process that loads and forks


def _serve(listening: socket.socket, path: str, modules: Sequence[str]) -> None:
    """Fork a process for each request until nobody is there to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[:1] = [path] if path else []
    for module in modules:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    running: dict[int, int] = {}
    asking: dict[int, socket.socket] = {}
    poll = select.poll()
    for descriptor in (listening.fileno(), woken):
        poll.register(descriptor, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if woken in ready:
            os.read(woken, 1 << 12)
            _tell_ended(running)
        if listening.fileno() in ready:
            control, _ = listening.accept()
            asking[control.fileno()] = control
            poll.register(control.fileno(), select.POLLIN)
        for control in [control for descriptor, control in asking.items() if descriptor in ready]:
            request, descriptors = b"", []
            with suppress(ConnectionResetError):  # it was killed
                request, descriptors, _, _ = socket.recv_fds(control, MOST, 64)
            if request:
                ours = [listening, *asking.values()]
                running[_fork(request, descriptors, ours, [woken, wake, *running.values()])] = descriptors[-1]
                continue
            poll.unregister(control.fileno())
            asking.pop(control.fileno()).close()
            if not asking:
                return


def _fork(request: bytes, descriptors: list[int], ours: list[socket.socket], open_: list[int]) -> int:
    """The number of a new process; of its descriptors the last hears it, and how it ended.

    It has nothing of `ours` and of what is `open_`: its own files may have these numbers.
    """
    pid = os.fork()
    if pid == 0:
        for descriptor in (*(one.detach() for one in ours), *open_):
            os.close(descriptor)
        _become(descriptors, **json.loads(request))
    for descriptor in descriptors[:-1]:
        os.close(descriptor)
    _tell(descriptors[-1], pid)
    return pid


def _tell_ended(running: dict[int, int]) -> None:
    """`running`: process → the descriptor that hears how it ended."""
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            descriptor = running.pop(ended[0])
            _tell(descriptor, ended[1])
            os.close(descriptor)


def _tell(descriptor: int, number: int) -> None:
    with suppress(BrokenPipeError):  # who asked has gone
        os.write(descriptor, str(number).rjust(_WIDTH).encode())


def _become(
    descriptors: list[int],
    program: list[str],
    folder: str,
    environment: dict[str, str],
    numbers: list[int],
    session: bool,
    group: int | None,
) -> NoReturn:
    """In the forked process: what Python and a shell do before and after a program."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if session:
        os.setsid()
    if group is not None:
        os.setpgid(0, group)
    _place(descriptors, numbers)
    # Those of before may have been of files, and these be pipes
    for own, name, mode, buffer in ((0, "stdin", "r", -1), (1, "stdout", "w", -1), (2, "stderr", "w", 1)):
        usual = getattr(sys, name)
        stream = open(own, mode, buffer, usual.encoding, usual.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    sys.argv, sys.orig_argv = program, [sys.executable, *program]
    sys.path.insert(0, os.path.dirname(os.path.abspath(program[0])))
    runpy.run_path(program[0], run_name="__main__")
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # to free all modules first takes a tenth of a second


def _place(descriptors: list[int], numbers: list[int]) -> None:
    """Give descriptors their numbers; the last, which has none, is closed."""
    above = [fcntl.fcntl(one, fcntl.F_DUPFD, max(numbers) + 1) for one in descriptors[:-1]]
    for descriptor in descriptors:
        os.close(descriptor)
    for descriptor, number in zip(above, numbers, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)


if __name__ == "__main__":
    if os.fork():  # it is the session's, not the first worker's: nobody waits for it
        os._exit(0)
    with socket.socket(fileno=int(sys.argv[1])) as all_who_ask:
        _serve(all_who_ask, sys.argv[2], sys.argv[3:])
