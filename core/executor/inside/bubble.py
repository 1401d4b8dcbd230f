"""Tier bubblewrap: the namespaces are made by `bwrap`, and a fresh interpreter starts inside.

For systems that let bwrap make user namespaces and nobody else (an AppArmor profile, or set-uid bwrap). Slower than the
fork server, because nothing is preloaded.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
import tempfile
from typing import NoReturn

from . import hiding, messages, mounts, seccomp
from .messages import BubbleJob, Job, SlotSetup

INSIDE = "/.candidate"
"""Where this folder lies in the sandbox."""
JOB, FILTER, BEGAN = 4, 5, 6


def execute(job: Job, setup: SlotSetup, layout: mounts.Layout, began: int) -> NoReturn:
    """Become bwrap. The descriptors 0, 1, 2, 3 go on to the program; 4 holds the job, 5 the filter, 6 is `began`."""
    os.dup2(began, BEGAN, inheritable=True)
    place(JOB, json.dumps(messages.to_plain(BubbleJob(job, layout.read_only, layout.devices))).encode())
    pinned = job.limits.core is not None
    calls = seccomp.program(
        namespaces=True, pinned=pinned, answers=job.answers, alone=job.alone, before_rules=True
    )  # fmt: skip
    place(FILTER, calls)
    os.set_inheritable(3, True)
    program = shutil.which("bwrap") or "bwrap"
    os.execve(program, [program, *arguments(job, setup, layout)], {})


def place(fd: int, data: bytes) -> None:
    """Make `fd` an unnamed file that holds `data`."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        file.flush()
        kept = fcntl.fcntl(file.fileno(), fcntl.F_DUPFD, 100)  # the file itself may have the number we want
    os.dup2(kept, fd, inheritable=True)
    os.close(kept)


def arguments(job: Job, setup: SlotSetup, layout: mounts.Layout) -> list[str]:
    """bwrap's command line, in the order in which it mounts."""
    assert setup.workspace is not None
    size = ["--size", str(mounts.tmpfs_mb(job.limits.disk_mb, layout.memory) << 19)]  # half the limit each
    words = [
        "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--clearenv",
        "--cap-drop", "ALL", "--hostname", "sandbox", "--proc", "/proc", "--dev", "/dev",
        *size, "--tmpfs", "/dev/shm", *size, "--tmpfs", "/tmp", "--bind", setup.workspace, mounts.WORKSPACE,
    ]  # fmt: skip
    hidden = hiding.outermost([*layout.hidden, *layout.working])
    words += _covered(bool(layout.devices)) + shown(layout.read_only, hidden)
    for path in layout.devices:
        words += ["--dev-bind-try", path, path]
    words += ["--ro-bind", os.path.dirname(os.path.abspath(__file__)), f"{INSIDE}/inside"]
    if setup.inputs:
        words += ["--ro-bind", setup.inputs, f"{mounts.WORKSPACE}/input"]
    words += ["--remount-ro", "/", "--chdir", mounts.WORKSPACE, "--seccomp", str(FILTER)]
    for name, value in mounts.FIXED.items():
        words += ["--setenv", name, value]
    return [*words, "--", sys.executable, "-s", "-B", f"{INSIDE}/inside/fresh.py"]


def _covered(gpus: bool) -> list[str]:
    words = []
    for entry in mounts.covered("/proc", gpus):
        is_folder = entry.is_dir(follow_symlinks=False)
        words += ["--tmpfs", entry.path] if is_folder else ["--ro-bind", "/dev/null", entry.path]
    return words


def shown(paths: list[str], hidden: list[str]) -> list[str]:
    """Words that show `paths` of the host read-only under their own names, with something empty over `hidden`."""
    words = []
    for path in paths:
        is_link = os.path.islink(path) and path.count("/") == 1  # /lib -> usr/lib
        words += ["--symlink", os.readlink(path), path] if is_link else ["--ro-bind", path, path]
    for path in hiding.aliases(hidden, paths):
        words += ["--tmpfs", path, "--remount-ro", path] if os.path.isdir(path) else ["--ro-bind", "/dev/null", path]
    return words
