"""What a candidate gives up before its first line: limits, uid, capabilities, files, system calls."""

from __future__ import annotations

import os
import resource
import signal
import socket

from . import kernel, landlock, mounts, seccomp
from .messages import Job, JobLimits, SlotSetup, Start

RULES = 4
"""In namespaces: where a candidate's process finds its Landlock rules."""
_DATA_SLACK = 256 << 20
_OPEN_FILES = 1024
_PROC = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/sys/kernel/cap_last_cap")
_PROC_SELF = (
    "auxv", "cmdline", "comm", "environ", "fd", "fdinfo", "io", "limits", "maps", "numa_maps", "oom_score", "smaps",
    "smaps_rollup", "stat", "statm", "status",
)  # fmt: skip
"""Named one by one, because there is more: `net` and `mounts` are the host's where there are no namespaces."""
_FILTERS = {
    (pinned, answers, alone): seccomp.Filter(
        seccomp.program(namespaces=True, pinned=pinned, answers=answers, alone=alone)
    )
    for pinned in (False, True)
    for answers, alone in ((False, False), (True, False), (True, True))
}


def confine(start: Start, link: socket.socket | None) -> None:
    """Give up what the tier says.

    Args:
        link: to the supervisor, in the tier without namespaces.
    """
    job, setup, layout = start.job, start.setup, start.layout
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)  # the supervisor is not; its child inherited that
    own_space = setup.tier == "warm" or setup.uid is not None
    limit(job.limits, own_space=own_space, gpus=bool(layout.devices), private=start.private)
    if setup.tier != "lite":
        limit_files()
    if setup.tier == "warm":
        if setup.uid is None:
            kernel.set_capabilities()
        else:
            kernel.change_user(setup.uid)
        landlock.put_in_force(RULES)
        _FILTERS[job.limits.core is not None, job.answers, job.alone].install()
    elif setup.tier == "lite":
        assert link is not None
        _confine_without_namespaces(job, setup, layout, link)


def _confine_without_namespaces(job: Job, setup: SlotSetup, layout: mounts.Layout, link: socket.socket) -> None:
    """The supervisor has already taken the uid and given up the capabilities."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    landlock.restrict(lite_rules(setup, layout))
    filter_ = seccomp.program(
        namespaces=False, pid=os.getpid(), scoped=landlock.scopes_signals(), pinned=job.limits.core is not None,
        answers=job.answers, alone=job.alone, cards=bool(layout.devices),
    )  # fmt: skip
    listener = seccomp.Filter(filter_).install(seccomp.FLAG_NEW_LISTENER)
    socket.send_fds(link, [b"x"], [listener])  # from here on the supervisor answers
    os.close(listener)
    link.close()
    limit_files()  # not before: the kernel holds what other candidates of our user have in flight against this limit


def rules(layout: mounts.Layout) -> list[tuple[str, int]]:
    """What Landlock lets a candidate do in the file system that was built for it."""
    return [
        *((path, landlock.RUN) for path in layout.read_only),
        *((path, landlock.CHANGE) for path in mounts.PRIVATE),
        (f"{mounts.WORKSPACE}/input", landlock.READ),
        ("/", landlock.READ_DIR),
        ("/proc", landlock.READ | (landlock.RENAME_THREADS if layout.devices else 0)),
        ("/dev", landlock.READ),
        *((path, landlock.DEVICE) for path in mounts.DEVICES),
        *((path, landlock.GPU) for path in layout.devices),
    ]


def lite_rules(setup: SlotSetup, layout: mounts.Layout) -> list[tuple[str, int]]:
    """What Landlock lets a candidate do among the host's files."""
    return [
        *((path, landlock.RUN) for path in layout.whole),
        *((path, landlock.READ_DIR) for path in layout.listed),
        (setup.workspace or mounts.WORKSPACE, landlock.CHANGE),
        *(((setup.inputs, landlock.READ),) if setup.inputs else ()),
        *own_process_rules(),
        *((path, landlock.GPU) for path in layout.devices),
        *((("/proc/self/task", landlock.RENAME_THREADS),) if layout.devices else ()),
    ]


def own_process_rules() -> list[tuple[str, int]]:
    """What a process may read of the machine's /proc and /dev where it has none of its own: little but of itself."""
    return [
        *((path, landlock.READ) for path in _PROC),
        ("/proc/self", landlock.READ_DIR),
        *((f"/proc/self/{name}", landlock.READ) for name in _PROC_SELF),
        *((path, landlock.DEVICE) for path in mounts.DEVICES),
    ]


def limit(limits: JobLimits, *, own_space: bool, gpus: bool, private: int) -> None:
    """Kernel limits a process: the watcher's tree-wide ones are the rule, these hold between two looks.

    Args:
        private: bytes that the process begins with; they are not the program's.
    """
    pin(limits)
    end_first()
    memory = limits.memory_mb << 20
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: limits.file_mb << 20,
        resource.RLIMIT_MEMLOCK: 64 << 10,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    if not gpus:
        wanted[resource.RLIMIT_DATA] = private + memory + _DATA_SLACK
    others = 0 if own_space else _tasks_of_user()  # the kernel counts them as well
    wanted[resource.RLIMIT_NPROC] = limits.processes + 2 + others
    if limits.cpu_seconds is not None:
        wanted[resource.RLIMIT_CPU] = int(limits.cpu_seconds) + 2
    for name, value in wanted.items():
        _lower(name, value)


def end_first() -> None:
    """Where memory runs out the kernel ends a process that is not trusted, and none of ours: by itself it takes the
    largest, and a program may be many small ones.
    """
    try:
        file = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    except OSError:  # a container may not show it
        return
    try:
        os.write(file, b"1000")
    finally:
        os.close(file)


def limit_files() -> None:
    """Open descriptors of a process. It bounds what all of a user may have in flight between sockets, too: half of what
    we may have at most, or those of a candidate would keep us from sending ours."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    _lower(resource.RLIMIT_NOFILE, _OPEN_FILES if hard == resource.RLIM_INFINITY else min(_OPEN_FILES, hard // 2))


def _lower(name: int, value: int) -> None:
    hard = resource.getrlimit(name)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(name, (value, value))


def pin(limits: JobLimits) -> None:
    """To the core of a timed job; once the filter is in force it is too late."""
    if limits.core is not None and os.sched_getaffinity(0) != {limits.core}:
        os.sched_setaffinity(0, {limits.core})


def _tasks_of_user() -> int:
    """Processes and threads of our user, with room for some more."""
    count = 64
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == os.getuid():
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:
            continue
    return count


def private_memory() -> int:
    """Bytes of this process's private writable memory, as the kernel counts them against RLIMIT_DATA."""
    with open("/proc/self/status") as file:
        return next((int(line.split()[1]) << 10 for line in file if line.startswith("VmData:")), 0)
