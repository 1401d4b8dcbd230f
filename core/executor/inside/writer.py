"""Runs a command that writes programs in a view of its own: `python -I -B writer.py TASK.json`.

The command sees its own folder, the system, its program and what the user names, and may use the network; nothing else
of the machine is there: no data, no runs, no other process. Nothing of it is left when this ends.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import sys
import time
from typing import Any, NoReturn

if __package__ in (None, ""):
    _folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [os.path.dirname(_folder), *(path for path in sys.path if path != _folder)]
    __package__ = os.path.basename(_folder)
    importlib.import_module(__package__)
    del sys.path[0]

from . import bubble, compartment, confine, door, hiding, kernel, landlock, mounts, seccomp, watch

SETUP_FAILED = 125
_NAMESPACES = kernel.CLONE_NEWPID | kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
"""A network of its own only with a door: a command asks models itself, an agent asks the gateway."""
_KILL_SECONDS = 5.0


def main(task: dict[str, Any]) -> NoReturn:
    """Run the command, and end as it ends. It does not outlive the process that asked for it."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != task["parent"]:
        os._exit(SETUP_FAILED)
    shown = [path for path in task["read_only"] if os.path.exists(path)]
    hidden = hiding.find(task["hide"], shown, task["own"])
    run = {"warm": _in_namespaces, "lite": _beside_others, "bubblewrap": _in_bubble}[task["tier"]]
    _set_up(lambda: _end(run(task, shown, hidden)))


# ------------------------------------------------------------ with a file system of its own


def _in_namespaces(task: dict[str, Any], shown: list[str], hidden: list[str]) -> int:
    owner = (os.getuid(), os.getgid()) if os.getuid() else None
    if hidden:
        hiding.cover(hidden, task["scratch"])
    network = 0 if task["door"] is None else kernel.CLONE_NEWNET
    pid = kernel.fork_into(_NAMESPACES | network | (kernel.CLONE_NEWUSER if owner else 0))
    if pid == 0:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        _set_up(lambda: _first_process(task, shown, owner))
    signal.signal(signal.SIGTERM, lambda *_: os.kill(pid, signal.SIGKILL))
    return _wait(pid)


def _first_process(task: dict[str, Any], shown: list[str], owner: tuple[int, int] | None) -> NoReturn:
    """Of the namespace: when it ends, the kernel kills every other."""
    if owner:
        kernel.map_identity(*owner)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if task["door"] is not None:
        door.bring_up()
        door.open_door(task["door"], task["port"])
    layout = mounts.Layout(task["scratch"], shown, task["devices"])
    if task["uid"] is not None:
        _give(task["folder"], task["uid"])
    keep = _needed(task)
    mounts.enter(layout, disk_mb=task["disk_mb"], uid=task["uid"], inputs=None, workspace=task["folder"])
    command = os.fork()
    if command == 0:
        _set_up(lambda: _become(task, confine.rules(layout), keep))
    _end(_wait(command))


def _in_bubble(task: dict[str, Any], shown: list[str], hidden: list[str]) -> NoReturn:
    """Become bwrap, which makes the namespaces and ends with whoever asked for the command."""
    words = [
        "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--new-session",
        "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/dev/shm",
        "--bind", task["folder"], mounts.WORKSPACE, *bubble.shown(shown, hidden),
    ]  # fmt: skip
    for path in task["devices"]:
        words += ["--dev-bind-try", path, path]
    command = task["command"]
    if task["door"] is not None:
        inside = f"{bubble.INSIDE}/inside"
        words += ["--unshare-net", "--ro-bind", os.path.dirname(os.path.abspath(__file__)), inside]
        command = [sys.executable, "-I", "-B", f"{inside}/door.py", str(task["door"]), str(task["port"]), *command]
    bubble.place(bubble.FILTER, seccomp.writer_program(namespaces=True, scoped=False))
    words += ["--chdir", task["home"], "--seccomp", str(bubble.FILTER), "--", *command]
    program = shutil.which("bwrap") or "bwrap"
    os.execve(program, [program, *words], dict(os.environ))


# ------------------------------------------------------------ without namespaces


def _beside_others(task: dict[str, Any], shown: list[str], hidden: list[str]) -> int:
    """Landlock alone. What the command leaves behind becomes a child of ours and is killed."""
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    whole, listed = hiding.around(shown, hidden)
    os.mkdir(task["temporary"], 0o700)
    keep = 0
    if task["uid"] is not None:
        _give(task["folder"], task["uid"])
        keep = compartment.needed_to_read([*shown, task["folder"]]) or _needed(task)
    rules = [
        *((path, landlock.RUN) for path in whole),
        *((path, landlock.READ_DIR) for path in listed),
        *((path, landlock.GPU) for path in task["devices"]),
        (task["folder"], landlock.CHANGE),
        *confine.own_process_rules(),
    ]
    command = os.fork()
    if command == 0:
        _set_up(lambda: _become(task, rules, keep))
    signal.signal(signal.SIGTERM, _stop)
    try:
        return _wait(command)
    finally:
        _kill_all()


def _stop(*_: Any) -> NoReturn:
    _kill_all()
    os._exit(1)


def _kill_all() -> None:
    end = time.monotonic() + _KILL_SECONDS
    while (left := watch.descendants(os.getpid())) and time.monotonic() < end:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


# ------------------------------------------------------------ the command itself


def _needed(task: dict[str, Any]) -> int:
    """As root the command is another user: what it takes to read what is its own but closed to others."""
    closed = [path for path in task["own"] if os.path.isdir(path) or not os.stat(path).st_mode & 0o004]
    return compartment.reading() if closed and task["uid"] is not None else 0


def _become(task: dict[str, Any], rules: list[tuple[str, int]], keep: int) -> NoReturn:
    scoped = landlock.scopes_signals()
    confine.end_first()
    if task["uid"] is not None:
        kernel.become(task["uid"], keep)
    else:
        kernel.drop_capabilities()
    landlock.restrict(rules, network=True)
    os.chdir(task["home"])
    seccomp.Filter(seccomp.writer_program(namespaces=task["tier"] == "warm", scoped=scoped)).install()
    command = task["command"]
    os.execve(command[0], command, dict(os.environ))
    raise AssertionError("execve does not return")


def _give(folder: str, uid: int) -> None:
    for parent, folders, files in os.walk(folder):
        for path in (parent, *(os.path.join(parent, name) for name in (*folders, *files))):
            os.chown(path, uid, uid, follow_symlinks=False)


def _set_up(begin: Any) -> NoReturn:
    try:
        begin()
    except BaseException as error:  # noqa: BLE001 - whatever broke is told to the host
        os.write(2, f"the writer's view could not be set up: {type(error).__name__}: {error}\n".encode())
    os._exit(SETUP_FAILED)


def _wait(pid: int) -> int:
    """The wait status of a child; others that end meanwhile are ours to reap."""
    while True:
        try:
            ended, status = os.waitpid(-1, 0)
        except InterruptedError:
            continue
        if ended == pid:
            return status


def _end(status: int) -> NoReturn:
    code = os.waitstatus_to_exitcode(status)
    os._exit(128 - code if code < 0 else code)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as _file:
        _task = json.load(_file)
    main(_task)
