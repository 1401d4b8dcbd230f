"""The warm fork server, which `start.py` begins.

Trusted and single-threaded. It imports what the problem names, once, and makes one supervisor for each socket that it
is sent. It ends when its parent does.
"""

from __future__ import annotations

import gc
import glob
import importlib
import importlib.util
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from . import hiding, kernel, messages, mounts, packed, supervisor, syscalls, watch
from .fork_hooks import ForkHooks
from .interpreter import Interpreter
from .messages import Fault, Ready, ServerSetup, SlotMade, Start

_LOOK_FOR_PARENT = 0.5
_KILL_SECONDS = 5.0
_BREATH = 0.02
"""Seconds without a request after which what makes later ones quicker is done."""
_NEW_OBJECTS = 50_000
"""Between two looks for garbage while something is imported that we do not know: with Python's 700 they take a sixth of
the time. Of all that pandas and scikit-learn make 800 objects are garbage, and nobody looks for them."""
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/R",
)
_SETTINGS_OF_VERSIONS = "/etc/java-*"
"""Without them a compiler of Debian's does not start: what lies below /usr are links to them."""
_COMPANIONS = {
    "numpy": ("numpy.random", "numpy.linalg", "numpy.fft"),
    "pandas": ("pandas.core.computation.expressions", "pandas.plotting", "pandas.io.parsers"),
    "sklearn": (
        "joblib", "threadpoolctl", "sklearn.calibration", "sklearn.cluster", "sklearn.compose", "sklearn.decomposition",
        "sklearn.dummy", "sklearn.ensemble", "sklearn.experimental", "sklearn.feature_extraction.text",
        "sklearn.feature_selection", "sklearn.gaussian_process", "sklearn.impute", "sklearn.inspection",
        "sklearn.kernel_ridge", "sklearn.linear_model", "sklearn.metrics", "sklearn.mixture", "sklearn.model_selection",
        "sklearn.multioutput", "sklearn.naive_bayes", "sklearn.neighbors", "sklearn.neural_network",
        "sklearn.pipeline", "sklearn.preprocessing", "sklearn.svm", "sklearn.tree", "sklearn.utils",
    ),
    "scipy": ("scipy.stats", "scipy.optimize", "scipy.sparse", "scipy.special"),
}  # fmt: skip
"""Packages that are known, with parts of them that are loaded late and nearly always wanted."""
_NAMESPACES = kernel.CLONE_NEWPID | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWNET | kernel.CLONE_NEWUTS


def main(control: socket.socket, hooks: ForkHooks) -> tuple[Start, Interpreter]:
    """Preload, then serve until the host is gone. Returns only in a candidate's process: what that is to become."""
    tier, layout, interpreter = _preloaded(control, hooks)
    return _serve(control, tier, layout, interpreter), interpreter


def _preloaded(control: socket.socket, hooks: ForkHooks) -> tuple[str, mounts.Layout, Interpreter]:
    """A frame of its own: whatever that of `main` held, each candidate's process would have to let go of."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    received = messages.receive(control)
    if received is None:
        os._exit(0)
    setup = received[0]
    assert isinstance(setup, ServerSetup)
    shown = _read_only(setup.show)
    keep_path(shown)
    hidden = [] if setup.tier == "none" else hiding.find(setup.hide, shown, setup.keep)
    working = hiding.working(setup.working, shown, setup.show)
    parts = hiding.around(shown, hiding.outermost([*hidden, *working]))
    layout = mounts.Layout(setup.scratch, shown, [], setup.tier == "warm", hidden, *parts, working)
    began = time.monotonic()
    if layout.namespaces and hidden:
        hiding.cover(hidden, setup.scratch)
    gc.disable()
    with hiding.refused(hidden):
        missing = _preload(setup.preload, control)
    has_msgpack = packed.library() is not None
    interpreter = Interpreter(hooks)
    gc.freeze()  # garbage, too: a last look through all modules takes longer than what it finds is worth
    gc.enable()
    ready = Ready(
        seconds=time.monotonic() - began, missing=missing, version=list(sys.version_info[:3]),
        executable=sys.executable, arch=syscalls.machine(), read_only=shown, hidden=hidden, msgpack=has_msgpack,
    )  # fmt: skip
    messages.send(control, ready)
    return setup.tier, layout, interpreter


def _read_only(show: list[str]) -> list[str]:
    """System folders, this interpreter's own, and `show`; what lies below a shown folder is not named again.

    Of the folders that a `.pth` file adds to its path those of installed packages: a project's own are not to be seen.
    """
    own = [sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix]
    own += [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    own += [os.path.realpath(path) for path in own]
    wanted = sorted({*own, *show} - {"/"}, key=len)
    settings = (*_SETTINGS, *sorted(glob.glob(_SETTINGS_OF_VERSIONS)))
    result = [path for path in (*_SYSTEM, *settings) if os.path.exists(path)]
    for path in wanted:
        if os.path.exists(path) and not any(path == shown or path.startswith(shown + "/") for shown in result):
            result.append(path)
    return result


def keep_path(shown: list[str]) -> None:
    """Nothing is imported from folders that candidates do not see (an editable install of ours, say)."""
    sys.path[:] = [p for p in sys.path if any(p == root or p.startswith(root + "/") for root in shown)]
    sys.path_importer_cache.clear()


@contextmanager
def _rare_collections() -> Iterator[None]:
    """What is imported inside may make much garbage."""
    before = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *before[1:])
    gc.enable()
    try:
        yield
    finally:
        gc.disable()
        gc.set_threshold(*before)


def _preload(names: list[str], control: socket.socket) -> dict[str, str]:
    """Import each module; what cannot be imported is reported, not fatal. Importing starts no thread and no OpenMP."""
    missing = {}
    for name in names:
        if _parent_is_gone(control):
            os._exit(0)
        try:
            if name.partition(".")[0] in _COMPANIONS:
                _import_known(name)
            else:
                with _rare_collections():
                    _import_file(name) if name.endswith(".py") else importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - any module of the user's environment
            missing[name] = f"{type(error).__name__}: {error}"
            continue
        for companion in _COMPANIONS.get(name, ()):
            try:
                _import_known(companion)
            except Exception:  # noqa: BLE001 - another version of the package may not have it
                continue
    return missing


def _import_known(name: str) -> None:
    try:
        with _without_docs():
            importlib.import_module(name)
    except Exception:  # noqa: BLE001 - a version of it that reads its docstrings
        importlib.import_module(name)


@contextmanager
def _without_docs() -> Iterator[None]:
    """What scipy makes of its docstrings as it is imported takes a quarter of the time of scikit-learn's import, and is
    other docstrings: who asks `inspect` inside gets none.
    """
    import inspect  # with what is imported here, or not at all

    original, importing = inspect.getdoc, True

    def getdoc(object: Any) -> str | None:
        return "" if importing else original(object)

    inspect.getdoc = getdoc
    try:
        yield
    finally:
        inspect.getdoc, importing = original, False  # who has kept ours asks the original from now on


def _import_file(path: str) -> None:
    """A file of the user's as the module of its name; one that says how it is made ready is made so."""
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    getattr(module, "prepare_evaluator", lambda: None)()


def _parent_is_gone(control: socket.socket) -> bool:
    try:
        return control.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def _serve(control: socket.socket, tier: str, layout: mounts.Layout, interpreter: Interpreter) -> Start:
    parent = os.getppid()
    owner = (os.getuid(), os.getgid()) if tier == "warm" and os.getuid() != 0 else None
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)  # what a killed supervisor leaves is waited for here
    namespaces = 0 if tier != "warm" else _NAMESPACES | (kernel.CLONE_NEWUSER if owner else 0)
    poll = select.poll()
    poll.register(control, select.POLLIN)
    wait = _BREATH
    supervisors = set(watch.children(os.getpid()))  # what was imported may have children of its own: they are let be
    while True:
        ready = poll.poll(1000 * wait)
        _reap(supervisors, layout.namespaces)
        if os.getppid() != parent:
            os._exit(0)
        if not ready and wait == _BREATH:
            kernel.collapse_memory()
            wait = _LOOK_FOR_PARENT
        if not ready:
            continue
        received = messages.receive(control)
        if received is None:
            _reap(supervisors, layout.namespaces)
            os._exit(0)
        start = _new_supervisor(control, received[1][0], namespaces, layout, owner, interpreter, supervisors)
        if start is not None:
            return start


def _new_supervisor(
    control: socket.socket, fd: int, namespaces: int, layout: mounts.Layout, owner: tuple[int, int] | None,
    interpreter: Interpreter, supervisors: set[int],
) -> Start | None:  # fmt: skip
    try:
        pid = kernel.fork_into(namespaces) if namespaces else os.fork()
    except OSError as error:
        os.close(fd)
        messages.send(control, Fault(str(error), lost=messages.is_shortage(error)))
        return None
    if pid == 0:
        control.close()
        return supervisor.serve(socket.socket(fileno=fd), layout, owner, interpreter)
    os.close(fd)
    supervisors.add(pid)
    messages.send(control, SlotMade(pid))
    return None


def _reap(supervisors: set[int], namespaces: bool) -> None:
    """Wait for whoever has ended. Of a supervisor that was killed nothing goes on: what it left has become our child,
    unless it died with the supervisor's namespaces.
    """
    end = time.monotonic() + _KILL_SECONDS
    lost = _ended() & supervisors
    supervisors -= lost
    while lost and not namespaces and time.monotonic() < end:
        left = [child for child in watch.children(os.getpid()) if child not in supervisors]
        for pid in [*left, *(below for child in left for below in watch.descendants(child))]:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        supervisors -= _ended()
        if not left:
            return
        time.sleep(0.001)


def _ended() -> set[int]:
    """Children that have ended, which are waited for."""
    ended: set[int] = set()
    try:
        while pid := os.waitpid(-1, os.WNOHANG)[0]:
            ended.add(pid)
    except ChildProcessError:
        pass
    return ended
