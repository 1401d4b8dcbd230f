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
from collections.abc import Callable  # noqa: E402
from contextlib import suppress  # noqa: E402

one_evaluation = _load_ours("one_evaluation", _HERE)
_NO_FORK = ("jax", "tensorflow", "grpc", "cupy", "ray")
"""Libraries with threads of their own that wait for each other after a fork."""
_REHEARSED_SECONDS = 5
_CLOCKS = ("time.time(", "perf_counter", "process_time", "monotonic", "thread_time", "timeit", "default_timer",
           "elapsed_time", "do_bench")  # fmt: skip
_TEXTS = ("subprocess", "popen(", "Popen", "os.system(", "posix_spawn", "os.spawn", "os.exec", "os.open(", "open_code",
          "getsize", ".stat(", "st_size", "getsource", "linecache", "tokenize", "__code__", "multiprocessing",
          "ProcessPool", "joblib")  # fmt: skip
"""Ways to a program's file, its size and its lines that are none of importing it: what is found there stands in for
it."""
_MOST_FILES = 200
_NO_READING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
REPORT = 1
"""Place of the socket for reports among a task's descriptors: the program's channel, that, the file of its output."""
_PR_SET_PDEATHSIG, _KILL = 1, int(signal.SIGKILL)
_control_process = ctypes.CDLL(None).prctl


class Opened:
    """Files that are read while it listens, in order: what a sandbox has to show for the evaluator to run in it.

    Not those that it has made itself, nor folders: a temporary file is made in one, with all that others have there.
    """

    def __init__(self, *but: str) -> None:
        self.paths: dict[str, None] = {}
        self._made: set[str] = set()
        not_theirs = (f"{folder}/" for folder in but)
        self._passed_over = ("/proc/", "/dev/", "/sys/", *not_theirs, os.path.abspath(_INSIDE), *_interpreter())

    def hear(self, event: str, args: tuple[Any, ...]) -> None:
        """An audit hook. One that raised would break the evaluator: what is odd is left out."""
        if event == "open" and len(self.paths) < _MOST_FILES and isinstance(args[0], (str, bytes)):
            path = os.path.abspath(os.fsdecode(args[0]))
            if len(args) > 2 and isinstance(args[2], int) and args[2] & _NO_READING:
                self._made.add(path)
            elif path in self._made or path.startswith(self._passed_over) or path.endswith(".pyc"):
                return
            elif path.isprintable() and not os.path.isdir(path):
                self.paths.setdefault(path)

    def left(self) -> list[str]:
        """Those that are there still."""
        return [path for path in self.paths if os.path.exists(path)]


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
    opened = Opened(os.path.dirname(setup["evaluator"]), setup["folder"])
    if setup["watch"]:
        sys.addaudithook(opened.hear)
    names = ("channel", "loading", "proxy", "stand_in", "usual_numbers", "usual_forms", "elsewhere")
    ours = one_evaluation.Modules(_load_ours("plain", _INSIDE), frames, *(_load_ours(name, _HERE) for name in names))
    looked_at = lambda: {"opened": opened.left(), **named()}  # noqa: E731
    evaluation = one_evaluation.Evaluation(ours, setup["folder"], looked_at)
    _HOOKS.give_back()
    try:
        function = ours.loading.load(setup["evaluator"], setup["function"])
    except BaseException as error:  # noqa: BLE001 - the user's evaluator may raise anything, SystemExit too
        with suppress(Exception):  # the user's evaluator may have put anything in their place
            sys.stdout.flush()
            sys.stderr.flush()
        frames.send(control, {"error": one_evaluation.trace(error), "line": one_evaluation.line(error)})
        return
    evaluation.stand_in([getattr(module, "__dict__", {}) for module in _users_modules()])
    _load_ours("hidden_lines", _HERE).hide_lines()
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
        evaluation.expect(task)
        if hinders or setup["watch"]:
            _HOOKS.give_back()
            os.write(fds[REPORT], frames.framed({"pid": os.getpid()}))
            threading.Thread(target=_end_with, args=(control,), daemon=True).start()
            evaluation.make(task, fds, function)
        _tell(fds[REPORT], frames.framed({"pid": _fork(evaluation, task, fds, function, control)}))
        for fd in fds:
            os.close(fd)
        for pid, program in task["over"]:
            _reap(pid)
            _remove(program)
    _remove_all(setup["folder"])
    _finish()


def _fork(
    evaluation: Any, task: dict[str, Any], fds: list[int], function: Callable[[str], Any], control: socket.socket
) -> int:
    """Start one evaluation; its pid, which leads a process group of its own and stays ours until it is reaped."""
    pid = os.fork()
    if pid == 0:
        try:
            _control_process(_PR_SET_PDEATHSIG, _KILL)  # nothing of the evaluator's goes on without us
            os.setpgid(0, 0)
            os.close(control.detach())
            _HOOKS.give_back()
            evaluation.make(task, fds, function)
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
    if held:
        return f"it has loaded {held[0]}"
    return "" if "torch" not in sys.modules or _forks_with_torch() else "it has computed with torch"


def _forks_with_torch() -> bool:
    """Whether a fork of this process can compute with PyTorch, which waits for ever once its threads have worked here.

    So one tries. A driver that knows the cards of this process knows none in a fork, and no try would show it.
    """
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        if "/libcuda.so" in file.read():
            return False
    pid = os.fork()
    if pid == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(_REHEARSED_SECONDS)
            sys.modules["torch"].ones(1 << 20).sum()  # more than one thread would take
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def named() -> dict[str, bool]:
    """What the code of the user's modules names: clocks (then a score may be a time), and other ways to the program's
    text than importing it."""
    texts = [_text_of(module.__file__) for module in _users_modules()]
    asked = {"clocks": _CLOCKS, "texts": _TEXTS}
    return {what: any(word in text for word in words for text in texts) for what, words in asked.items()}


def _users_modules() -> list[Any]:
    """Those that are loaded from files which are neither the interpreter's nor ours."""
    shown = _interpreter()
    files = [(module, getattr(module, "__file__", None) or "") for module in list(sys.modules.values())]
    return [module for module, path in files if path.endswith(".py") and not path.startswith(shown)]


def _text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


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
