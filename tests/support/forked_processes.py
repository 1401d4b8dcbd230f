"""Python programs in processes that are forked from one that has loaded what they import.

To load `main.py`, or scikit-learn, takes a second or two of processor time, a fork a hundredth. A forked process has a
number, a folder, an environment and an output of its own, as one that a user starts; it lacks what Python does before
the program's first line, and a hash seed of its own.

`forked(…)` is this side; `python forked_processes.py DESCRIPTOR PATH MODULE …` is the process that loads and forks. All
workers of a session share it, since each of their own would load the same again.
"""

from __future__ import annotations

import atexit
import errno
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

_MOST = 1 << 20
"""Bytes of a request: words, folder and environment."""


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

    def __init__(self, pid: int, status: int) -> None:
        self.pid = pid
        self._status = status
        self._code: int | None = None

    def code(self, seconds: float) -> int | None:
        """How it ended, as `Done.returncode`; None where it has not within so many seconds."""
        poll = select.poll()
        poll.register(self._status, select.POLLIN)
        if self._code is None and poll.poll(seconds * 1000):
            self._code = os.waitstatus_to_exitcode(int(os.read(self._status, 32)))
        return self._code

    def signal(self, number: signal.Signals) -> None:
        if self.code(0) is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def close(self) -> None:
        """Nobody asks any more how it ended; it is killed if it has not."""
        self.signal(signal.SIGKILL)
        os.close(self._status)


class Begun:
    """A forked process that nobody waits for yet, with its output in pipes: what tests ask of a `subprocess.Popen`."""

    def __init__(self, running: Running, out: int, err: int) -> None:
        self.pid = running.pid
        self._running = running
        self.stdout, self.stderr = (os.fdopen(end, encoding="utf-8", errors="replace") for end in (out, err))

    @property
    def returncode(self) -> int | None:
        return self.poll()

    def poll(self) -> int | None:
        return self._running.code(0)

    def wait(self, timeout: float = 240) -> int:
        code = self._running.code(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        self._running.signal(number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float = 240) -> tuple[str, str]:
        """What it printed and nobody has read, once it has ended."""
        said = ["", ""]

        def read(place: int, stream: IO[str]) -> None:
            with stream:
                said[place] = stream.read()

        ends = [one for one in enumerate((self.stdout, self.stderr)) if not one[1].closed]
        readers = [threading.Thread(target=read, args=end, daemon=True) for end in ends]
        for reader in readers:
            reader.start()
        self.wait(timeout)
        for reader in readers:
            reader.join(timeout)
        return said[0], said[1]

    def close(self) -> None:
        """Nobody looks at it any more; it is killed if it has not ended."""
        self.kill()
        self.communicate()
        self._running.close()


class Forked:
    """Our end. Thread-safe: programs may run side by side. The process that forks them ends with the last that asks."""

    def __init__(self, path: str, modules: Sequence[str]) -> None:
        self._control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        address = _address(path, modules)
        while True:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as theirs:
                if self._is_first(theirs, address):
                    command = [sys.executable, __file__, str(theirs.fileno()), path, *modules]
                    descriptors = [theirs.fileno()]
                    self._process = subprocess.Popen(command, pass_fds=descriptors, stdin=subprocess.DEVNULL, cwd="/")
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
            with closing(self.start(program, folder, environment, out.fileno(), err.fileno())) as running:
                code = running.code(timeout)
            if code is None:
                raise TookTooLong(f"{_text(out)[-2000:]}\n{_text(err)[-2000:]}")
            return Done(code, _text(out), _text(err))

    def begin(self, program: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Begun:
        """`python PROGRAM …` in that folder, which is not waited for."""
        (ours_out, out), (ours_err, err) = os.pipe(), os.pipe()
        try:
            return Begun(self.start(program, folder, environment, out, err), ours_out, ours_err)
        finally:
            os.close(out)
            os.close(err)

    def start(
        self, program: Sequence[str], folder: Path, environment: Mapping[str, str], out: int, err: int
    ) -> Running:
        """The same without waiting for its end; `out` and `err` are descriptors. To be closed."""
        asked = {"program": list(program), "folder": str(folder), "environment": dict(environment)}
        request = json.dumps(asked).encode()
        assert len(request) < _MOST
        ours, theirs = os.pipe()
        try:
            with self._lock:
                socket.send_fds(self._control, [request], [out, err, theirs])
                return Running(int(self._control.recv(32)), ours)
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
    session = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
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
            request, descriptors, _, _ = socket.recv_fds(control, _MOST, 3)
            if request:
                ours = [listening, *asking.values()]
                running[_fork(request, descriptors, control, ours, [woken, wake, *running.values()])] = descriptors[-1]
                continue
            poll.unregister(control.fileno())
            asking.pop(control.fileno()).close()
            if not asking:
                return


def _fork(
    request: bytes, descriptors: list[int], control: socket.socket, ours: list[socket.socket], open_: list[int]
) -> int:
    """The number of a new process, which is told to who asked; of its descriptors the last hears how it ended.

    It has nothing of `ours` and of what is `open_`: its own files may have these numbers.
    """
    pid = os.fork()
    if pid == 0:
        for descriptor in (*(one.detach() for one in ours), *open_):
            os.close(descriptor)
        _become(descriptors, **json.loads(request))
    for descriptor in descriptors[:-1]:
        os.close(descriptor)
    control.send(str(pid).encode())
    return pid


def _tell_ended(running: dict[int, int]) -> None:
    """`running`: process → the descriptor that hears how it ended."""
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            descriptor = running.pop(ended[0])
            with suppress(BrokenPipeError):
                os.write(descriptor, str(ended[1]).encode())
            os.close(descriptor)


def _become(descriptors: list[int], program: list[str], folder: str, environment: dict[str, str]) -> NoReturn:
    """In the forked process: what Python and a shell do before and after a program."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for theirs, own in zip(descriptors, (1, 2), strict=False):
        os.dup2(theirs, own)
    for descriptor in descriptors:
        os.close(descriptor)
    for own, name in ((1, "stdout"), (2, "stderr")):  # those of before may have been of files, and these be pipes
        usual = getattr(sys, name)
        told = open(own, "w", 1 if own == 2 else -1, usual.encoding, usual.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, told)
        setattr(sys, f"__{name}__", told)
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


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2], sys.argv[3:])
