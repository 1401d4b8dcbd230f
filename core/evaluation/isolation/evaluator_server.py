"""The trusted process of a user's evaluator: `python evaluator_server.py FD`.

It is told the evaluator's file and loads it once. Each evaluation is a fork of it, so that nothing of one is left for
the next; an evaluator that has started threads, or holds a library that does not survive a fork, is told as such and
serves one evaluation in a process that then ends.

Standard library only; started by path, so that the evaluator's imports never meet our packages.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import Any, NoReturn

_HERE = os.path.dirname(os.path.abspath(__file__))
_INSIDE = os.path.join(_HERE, "..", "..", "executor", "inside")


def _load_ours(name: str, folder: str) -> Any:
    """Load one of our files under a name that nothing of the user's can have."""
    spec = importlib.util.spec_from_file_location(f"_swarm_evo.{name}", os.path.join(folder, f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


_fork_hooks = _load_ours("fork_hooks", _INSIDE)
_HOOKS = _fork_hooks.ForkHooks(_fork_hooks.LOCKS)  # before the modules that it listens to are imported

import atexit  # noqa: E402
import ctypes  # noqa: E402
import gc  # noqa: E402
import json  # noqa: E402
import signal  # noqa: E402
import socket  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402
from collections.abc import Callable  # noqa: E402
from contextlib import nullcontext, suppress  # noqa: E402

_FORKED = "the evaluator calls the candidate from several processes"
_NO_FORK = ("jax", "tensorflow", "torch", "grpc", "cupy", "ray")
"""Libraries with threads of their own that wait for each other after a fork."""
_CLOCKS = ("perf_counter", "perf_counter_ns", "process_time", "process_time_ns", "monotonic", "monotonic_ns",
           "thread_time", "timeit", "default_timer")  # fmt: skip
_MOST_FILES = 200
REPORT = 1
"""Place of the socket for reports among a task's descriptors: the program's channel, that, the file of its output."""
_PR_SET_PDEATHSIG = 1


class Opened:
    """Files that are read while it listens, in order: what a sandbox has to show for the evaluator to run in it."""

    def __init__(self, but: str) -> None:
        self.paths: dict[str, None] = {}
        self._passed_over = ("/proc/", "/dev/", "/sys/", f"{but}/", os.path.abspath(_INSIDE), *_interpreter())

    def hear(self, event: str, args: tuple[Any, ...]) -> None:
        """An audit hook. One that raised would break the evaluator: what is odd is left out."""
        if event == "open" and len(self.paths) < _MOST_FILES and isinstance(args[0], (str, bytes)):
            path = os.path.abspath(os.fsdecode(args[0]))
            if path.isprintable() and not path.startswith(self._passed_over) and not path.endswith(".pyc"):
                self.paths.setdefault(path)


def _interpreter() -> tuple[str, ...]:
    """Folders of the interpreter and of the system, which every sandbox shows."""
    own = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix, "/usr", "/lib", "/lib64", "/etc", _HERE}
    return tuple(f"{path}/" for root in own for path in {root, os.path.realpath(root)})


def main(control: socket.socket) -> None:
    """Load, then fork for each task until the main process is gone."""
    frames = _load_ours("frames", _INSIDE)
    received = frames.receive(control)
    if received is None:
        return
    setup = received[0]
    opened = Opened(but=os.path.dirname(setup["evaluator"]))
    if setup["watch"]:
        sys.addaudithook(opened.hear)
    parts = Parts(frames, opened)
    _HOOKS.give_back()
    try:
        function = parts.loading.load(setup["evaluator"], setup["function"])
    except BaseException as error:  # noqa: BLE001 - the user's evaluator may raise anything, SystemExit too
        with suppress(Exception):  # the user's evaluator may have put anything in their place
            sys.stdout.flush()
            sys.stderr.flush()
        frames.send(control, {"error": _trace(error), "line": _line(error)})
        return
    hinders = _hinders_forks()
    frames.send(control, {"ready": True, "hinders": hinders})
    sys.stdout.flush()
    sys.stderr.flush()
    gc.collect()
    gc.freeze()  # a collection in a fork would copy all that was loaded here
    _HOOKS.end_listening()
    if not hinders:
        _HOOKS.put_off()
    while (received := frames.receive(control)) is not None:
        task, fds = received
        if hinders or setup["watch"]:
            os.write(fds[REPORT], frames.framed({"pid": os.getpid()}))
            threading.Thread(target=_end_with, args=(control,), daemon=True).start()
            parts.evaluate(task, fds, function)
        _tell(fds[REPORT], frames.framed({"pid": _fork(parts, task, fds, function, control)}))
        for fd in fds:
            os.close(fd)
        for pid, program in task["over"]:
            _reap(pid)
            _remove(program)
    _remove_all(setup["folder"])
    _finish()


class Parts:
    """What an evaluation is put together of."""

    def __init__(self, frames: Any, opened: Opened) -> None:
        self.frames, self.opened = frames, opened
        self.plain = _load_ours("plain", _INSIDE)
        names = ("channel", "loading", "proxy", "stand_in")
        self.channel, self.loading, self.proxy, self.stand_in = (_load_ours(name, _HERE) for name in names)
        self.control_process = ctypes.CDLL(None).prctl

    def evaluate(self, task: dict[str, Any], fds: list[int], function: Callable[[str], Any]) -> NoReturn:
        """Hand the evaluator its candidate once its names are known, report what it returned, and end as an interpreter
        does."""
        _HOOKS.give_back()
        channel, report, output = fds
        for number in (1, 2):
            os.dup2(output, number)
        os.close(output)
        try:
            report_to = socket.socket(fileno=report)
            received = self.frames.receive(report_to)
            if received is None:  # the program could not be loaded
                os._exit(0)
            found = self._report(task, received[0]["names"], channel, function, report_to)
            sys.stdout.flush()
            sys.stderr.flush()
            self.frames.send(report_to, {"report": found})
            atexit._run_exitfuncs()
        except BaseException:  # noqa: BLE001 - what breaks here is told with what was printed
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(0)

    def _report(
        self, task: dict[str, Any], names: Any, fd: int, function: Callable[[str], Any], report_to: socket.socket
    ) -> dict[str, Any]:
        asking = self.channel.Channel(fd, timeout=task["call_timeout"], plain=self.plain)
        told: dict[str, Any] = dict(NOTHING)

        def ask(name: str, args: Any, named: Any) -> Any:
            if asking.forked:  # answers would go to whoever reads first: only this one word is said from here
                self.frames.send(report_to, {"report": NOTHING | {"refused": _FORKED}})
                raise stand.refuse(_FORKED)
            if task["delay"]:
                time.sleep(task["delay"])
            return asking.call(name, args, named)

        stand = self.proxy.Proxy(self.plain.unwrap(names), ask, self.channel.ProgramRaised, task["classes"])
        try:
            stood_in = self.stand_in.installed(task["program"], stand.fill, stand.refuse)
            with nullcontext() if task["is_text"] else stood_in:
                told["value"] = self.loading.to_plain(function(task["program"]))
        except BaseException as error:  # noqa: BLE001 - the user's evaluator may raise anything, SystemExit too
            told |= {"error": _trace(error), "line": _line(error)}
        failed = asking.failed
        return told | {
            "refused": stand.refused, "by_program": stand.by_program, "classes": stand.classes,
            "calls": asking.calls, "call_seconds": asking.seconds,
            "failed": None if failed is None else [failed.failure, failed.message],
            "opened": list(self.opened.paths), "clocks": task["watch"] and reads_clocks(),
        }  # fmt: skip


NOTHING: dict[str, Any] = {
    "value": None, "error": "", "line": "", "refused": "", "by_program": False, "classes": [], "calls": 0,
    "call_seconds": 0.0, "failed": None, "opened": [], "clocks": False,
}  # fmt: skip
"""A report before anything was done."""


def _fork(
    parts: Parts, task: dict[str, Any], fds: list[int], function: Callable[[str], Any], control: socket.socket
) -> int:
    """Start one evaluation; its pid, which leads a process group of its own and stays ours until it is reaped."""
    pid = os.fork()
    if pid == 0:
        try:
            parts.control_process(_PR_SET_PDEATHSIG, signal.SIGKILL)  # nothing of the evaluator's goes on without us
            os.setpgid(0, 0)
            control.close()
            parts.evaluate(task, fds, function)
        finally:
            os._exit(3)
    with suppress(OSError):  # whoever comes first: who is told the pid may kill the group at once
        os.setpgid(pid, pid)
    return pid


def _remove(program: str) -> None:
    """A candidate's file, and its folder with all that its evaluator left there."""
    try:
        os.unlink(program)
        os.rmdir(os.path.dirname(program))
    except OSError:
        _remove_all(os.path.dirname(program))


def _remove_all(folder: str) -> None:
    """As far as it goes: the main process removes what is left in the end."""
    for parent, folders, files in os.walk(folder, topdown=False):
        for remove, names in ((os.unlink, files), (os.rmdir, folders)):
            for name in names:
                with suppress(OSError):
                    remove(os.path.join(parent, name))
    with suppress(OSError):
        os.rmdir(folder)


def _finish() -> NoReturn:
    """End as an interpreter does, but without tearing down what the evaluator built."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)


def _tell(report: int, frame: bytes) -> None:
    with suppress(OSError):  # who wanted the evaluation has given it up
        os.write(report, frame)


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass


def _hinders_forks() -> str:
    """Why evaluations cannot be forks of this process; '' if they can."""
    if threading.active_count() > 1:
        return "it has started threads"
    held = [name for name in _NO_FORK if name in sys.modules]
    return f"it has loaded {held[0]}" if held else ""


def reads_clocks() -> bool:
    """True if code of the user's modules names a clock: then a score may be a time."""
    shown = _interpreter()
    files = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    return any(_names_clock(path) for path in files if path.endswith(".py") and not path.startswith(shown))


def _names_clock(path: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return False
    return "time.time(" in text or any(name in text for name in _CLOCKS)


def _trace(error: BaseException) -> str:
    """The traceback without the frames that are ours."""
    told = traceback.TracebackException.from_exception(error)
    told.stack[:] = [frame for frame in told.stack if not frame.filename.startswith(_HERE)]
    return "".join(told.format())[-4000:]


def _line(error: BaseException) -> str:
    return traceback.format_exception_only(type(error), error)[-1].strip()[:500]


def _end_with(control: socket.socket) -> None:
    """End this process when the main process is gone or has heard enough."""
    control.recv(1)
    os._exit(3)


if __name__ == "__main__":
    sys.path[:] = [
        path for path in sys.path if os.path.abspath(path) != _HERE
    ]  # our files are not for the user's imports
    json.dumps(None)  # loaded before the evaluator can put a json.py of its own in front
    main(socket.socket(fileno=int(sys.argv[1])))
