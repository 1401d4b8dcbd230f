"""Our side of the fork server: starting it, and asking it for slots."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.executor.inside import hiding, messages
from core.executor.inside.messages import (
    Fault,
    Ready,
    ServerSetup,
    SlotMade,
    SlotSetup,
    SlotWanted,
)
from core.executor.inside.mounts import FIXED
from core.executor.open_files import allow_open_files
from core.executor.slot import SandboxSlot, error_of, lost_by
from utils.errors import SandboxError
from utils.scratch_folders import hold, is_left

_SCRIPT = Path(__file__).parent / "inside" / "start.py"
_APP = Path(__file__).resolve().parents[2]
"""Our own code, which is hidden where it is installed among the packages: graders and evaluators lie in it."""
_START_SECONDS = 120.0
_SLOT_SECONDS = 30.0
_END_SECONDS = 5.0
_PRIVATE = "sandbox-"
"""Begins the names of sandboxes' folders."""


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """What a fork server is started with."""

    tier: str
    python: str
    preload: tuple[str, ...]
    state_dir: Path
    """Folder of ours for the server's log and mount point."""
    show: tuple[str, ...] = ()
    """Further host paths that candidates may read."""
    environment: tuple[tuple[str, str], ...] = ()
    """Variables of candidates beside the fixed ones, or in place of them."""
    hide: tuple[str, ...] = ()
    """Files and folders of installed packages that candidates do not see, as patterns below a folder of packages."""

    @property
    def working(self) -> Path:
        """Where working folders of ours lie, this sandbox's own among them."""
        own = (path for path in (self.state_dir, *self.state_dir.parents) if path.name.startswith(_PRIVATE))
        return next(own, self.state_dir).parent


@dataclass
class ForkServer:
    """A running fork server. Thread-safe. Construction does not wait for it; the first use does.

    A server that died is replaced once a use: its candidates died with it.
    """

    config: ServerConfig
    _process: subprocess.Popen[bytes] | None = None
    _control: socket.socket | None = None
    _ready: Ready | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _spare: socket.socket | None = None
    """Our end of a supervisor that was made ahead of need; the server's word about it is not read yet."""
    _closed: bool = False
    _held: int | None = None
    """Keeps the folder of states from being taken for one that was left."""
    _came_later: tuple[str, ...] = ()
    """What is to be hidden and was not known when the server was started."""

    def __post_init__(self) -> None:
        allow_open_files()
        self.config.state_dir.mkdir(parents=True, exist_ok=True)
        self._held = hold(self.config.state_dir)
        try:
            self._start()
        except BaseException:
            self._let_go()
            raise

    def ready(self) -> Ready:
        """Wait until it is preloaded; return what it said."""
        with self._lock:
            return self._wait_until_ready()

    def hide(self, patterns: Sequence[str]) -> None:
        """Hide these, too, before the first slot: absolute paths, which may not have been there at the start."""
        with self._lock:
            self.config = replace(self.config, hide=(*self.config.hide, *patterns))
            self._came_later = (*self._came_later, *patterns)

    def open_slot(self, setup: SlotSetup) -> SandboxSlot:
        """A new supervisor with its namespaces. SandboxError when the kernel refuses them, JobLost when it is full."""
        with self._lock:
            try:
                return self._ask(setup)
            except (ConnectionError, TimeoutError):
                self._stop()
                self._start()
                return self._ask(setup)
            except OSError as error:
                raise lost_by(error) from error

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._stop()
            self._let_go()

    def _let_go(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _ask(self, setup: SlotSetup) -> SandboxSlot:
        self._wait_until_ready()
        try:
            return self._set_up(setup)
        except BrokenPipeError:  # the spare one was killed while it waited: no reason to end all that runs
            return self._set_up(setup)

    def _set_up(self, setup: SlotSetup) -> SandboxSlot:
        """The spare supervisor, or one that is made now, told what it is for. BrokenPipeError where it has ended."""
        assert self._control is not None
        if self._spare is None:
            self._order_spare()
        ours, self._spare = self._spare, None
        assert ours is not None
        try:
            self._control.settimeout(_SLOT_SECONDS)
            received = messages.receive(self._control)
            if received is None:
                raise ConnectionError("the fork server is gone")
            answer = received[0]
            if isinstance(answer, Fault):
                raise error_of(answer, "the kernel refused the sandbox's namespaces")
            assert isinstance(answer, SlotMade)
            messages.send(ours, setup)
            self._order_spare()
        except BaseException:
            ours.close()
            raise
        return SandboxSlot(ours, answer.pid, self.config.preload)

    def _order_spare(self) -> None:
        """Ask for a supervisor without waiting for it: the next slot will find it ready."""
        assert self._control is not None
        ours, theirs = socket.socketpair()
        try:
            messages.send(self._control, SlotWanted(), [theirs.fileno()])
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self._spare = ours

    def _start(self) -> None:
        if self._closed:
            raise SandboxError("the sandbox is closed")
        scratch = self.config.state_dir / "root"
        scratch.mkdir(exist_ok=True)
        ours, theirs = socket.socketpair()
        setup = ServerSetup(
            tier=self.config.tier, scratch=str(scratch), preload=list(self.config.preload),
            show=list(self.config.show), hide=[*self.config.hide, str(_APP)],
            keep=[*self.config.show, str(self.config.working)], working=str(self.config.working),
        )  # fmt: skip
        writes_none = ["-B"] if sys.dont_write_bytecode else []
        command = [self.config.python, "-s", *writes_none, str(_SCRIPT), str(theirs.fileno())]
        with open(self.config.state_dir / "fork_server.log", "ab") as log:
            try:
                self._process = subprocess.Popen(
                    command, pass_fds=[theirs.fileno()], env=_environment(self.config.tier), stdin=subprocess.DEVNULL,
                    stdout=log, stderr=log, cwd="/", start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                ours.close()
                raise SandboxError(f"cannot start {self.config.python}: {error.strerror}") from error
            finally:
                theirs.close()
        with suppress(OSError):  # it ended at once; its log says why
            messages.send(ours, setup)  # not as an argument: candidates can read those
        self._control, self._ready = ours, None

    def _wait_until_ready(self) -> Ready:
        ready = self._heard()
        if self._came_later:
            shown = not hiding.is_hidden(self._came_later, ready.read_only, ready.hidden)
            self._came_later = ()
            if shown and self.config.tier != "none":  # what it has covered cannot be added to
                self._stop()
                self._start()
                ready = self._heard()
        return ready

    def _heard(self) -> Ready:
        """What the server said when it was preloaded."""
        if self._closed or self._control is None:
            raise SandboxError("the sandbox is closed")
        if self._ready is None:
            self._control.settimeout(_START_SECONDS)
            received = messages.receive(self._control)
            if received is None:
                told = _script_told(self.config.python)
                raise SandboxError(f"the fork server did not start: {self._log_tail()}{told}")
            assert isinstance(received[0], Ready)
            self._ready = received[0]
        return self._ready

    def _log_tail(self) -> str:
        """What it said last: of a traceback, the error."""
        try:
            text = (self.config.state_dir / "fork_server.log").read_text(errors="replace").strip()
        except OSError:
            text = ""
        return text.rpartition("\n")[2][-400:] or f"{self.config.python} {self._how_it_ended()}"

    def _how_it_ended(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            if self._process is not None and self._process.wait(_END_SECONDS) == -signal.SIGKILL:
                return "was killed: from outside, or because memory ran out"
        return "ended at once"

    def _stop(self) -> None:
        if self._spare is not None:
            self._spare.close()
            self._spare = None
        if self._control is not None:
            if self._ready is not None:
                await_end(self._control, _END_SECONDS)
            self._control.close()
            self._control = None
        if self._process is not None:
            if self._ready is None:  # it is still importing, and looks up only between two modules
                self._process.kill()
            try:
                self._process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


def await_end(control: socket.socket, seconds: float) -> None:
    """Tell a process that we are gone by the socket that it obeys, and wait until it has closed its end, too.

    `Popen.wait` with a limit looks again and again, at last every 50 ms.
    """
    with suppress(OSError):
        control.shutdown(socket.SHUT_WR)
        control.settimeout(seconds)
        while control.recv(1 << 16):
            pass


def _environment(tier: str) -> dict[str, str]:
    """Of the server itself: nothing of ours. One thread, because threads do not survive a fork."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    fixed = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "MPLBACKEND": "Agg", **FIXED}
    if tier == "lite":
        fixed["JOBLIB_MULTIPROCESSING"] = "0"  # read at import: without sockets joblib must take threads
    return fixed | dict.fromkeys(names, "1")


def _script_told(python: str) -> str:
    """What to do where a name leads to a script and not to an interpreter, as those of pyenv and asdf do."""
    with suppress(OSError), open(python, "rb") as file:
        if file.read(2) == b"#!":
            asked = f"{python} -c 'import sys; print(sys.executable)'"
            return f"; it is a script that looks for an interpreter: give the one that it finds ({asked})"
    return ""


def own_python() -> str:
    """The interpreter that runs us."""
    return sys.executable or shutil.which("python3") or "python3"


def private_folder(state_dir: Path) -> Path:
    """A folder below `state_dir` that is ours alone, so that several sandboxes can share it."""
    _remove_stale(state_dir)
    path = state_dir / f"{_PRIVATE}{os.getpid()}-{os.urandom(4).hex()}"
    path.mkdir(parents=True)
    return path


def _remove_stale(state_dir: Path) -> None:
    """Folders of processes that were killed before they could tidy up."""
    for path in state_dir.glob(f"{_PRIVATE}*-*"):
        if is_left(path):
            shutil.rmtree(path, ignore_errors=True)
