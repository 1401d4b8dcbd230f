"""The supervisor of a slot: trusted, first process of the job's pid namespace, dead when host or fork server is.

It builds the view, starts one candidate after the other, measures the tree against the limits, kills, and reports over
a socket that no candidate ever holds. Without namespaces it finds the tree by descent instead.
"""

from __future__ import annotations

import math
import os
import select
import signal
import socket
import time
from dataclasses import dataclass
from typing import Any

from . import frames, kernel, mounts, notifier, watch
from .slot import Slot

_FIRST_TICK, _LAST_TICK = 0.01, 0.05
_KILL_SECONDS = 5.0
_DISK_EVERY = 0.1
_PRIORITY = -5
_MOST_SOCKETS = 3000
"""Each may hold some 200 KB in the kernel."""


@dataclass(frozen=True)
class Start:
    """In the candidate's process: what it is to become. `fds` are its descriptors 0, 1, 2, 3."""

    job: dict[str, Any]
    setup: dict[str, Any]
    fds: list[int]
    link: socket.socket | None = None
    """Without namespaces: where the filter's listener is sent."""


def serve(control: socket.socket, layout: mounts.Layout, owner: tuple[int, int] | None) -> Start:
    """Serve one slot until its host is gone. Returns only in a candidate's process.

    Args:
        control: our end of the host's socket.
        owner: uid and gid to keep in a new user namespace, None where there is none.
    """
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
            signal.signal(number, signal.SIG_IGN)  # pid 1 is deaf to what it does not handle
        if layout.namespaces:  # elsewhere it must live long enough to kill what it looks after
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        if owner is not None:
            kernel.map_identity(*owner)
        received = frames.receive(control)
        if received is None:
            os._exit(0)
        received[0]["nice"] = _be_quick()
        slot = Slot(received[0], layout)
        if not slot.namespaces:
            kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        slot.open()
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        while (received := frames.receive(control)) is not None:
            if "stop" in received[0]:  # meant for a job that had ended by itself
                continue
            start = _one_job(slot, control, *received)
            if start is not None:
                return start
    except BaseException as error:  # noqa: BLE001 - whatever broke is told to the host, which stops the run
        _tell(control, {"error": f"{type(error).__name__}: {error}"})
    os._exit(0)


def _one_job(slot: Slot, control: socket.socket, job: dict[str, Any], fds: list[int]) -> Start | None:
    disk_mb = job["limits"]["disk_mb"]
    slot.fill(disk_mb)
    before = watch.reaped_cpu()
    started = time.monotonic()
    ours, theirs = socket.socketpair() if slot.setup["tier"] == "lite" else (None, None)
    pid = os.fork()
    if pid == 0:
        control.close()
        return Start(job, slot.setup, fds, theirs)
    for fd in fds:
        os.close(fd)
    watching = _Watching(slot, job, started)
    if ours is not None and theirs is not None:
        theirs.close()
        watching.notifier = _start_notifier(ours, slot)
    status, breach = watching.until_end(control, pid)
    slot.kill()
    if watching.notifier is not None:
        os.close(watching.notifier.listener)
    seconds = time.monotonic() - started
    breach = breach or watching.disk_breach([])
    slot.collect(disk_mb)
    report = {
        "status": status, "breach": breach, "seconds": seconds,
        "cpu": watch.reaped_cpu() - before, "memory": watching.peak,
    }  # fmt: skip
    _tell(control, report)
    return None


class _Watching:
    """One job against its limits."""

    def __init__(self, slot: Slot, job: dict[str, Any], started: float) -> None:
        self.peak = 0
        self.notifier: notifier.SeccompNotifier | None = None
        self._slot = slot
        self._limits: dict[str, Any] = job["limits"]
        self._deadline: float | None = job["deadline"]
        self._started = started
        self._cpu_before = watch.reaped_cpu()
        self._next_disk = 0.0
        self._parent = os.getppid()

    def until_end(self, control: socket.socket, pid: int) -> tuple[int | None, tuple[str, str] | None]:
        """Wait for the candidate, a breach or the host's word. Returns wait status and (kind, message) of a breach."""
        poll = select.poll()
        poll.register(control, select.POLLIN)
        handle = os.pidfd_open(pid)
        poll.register(handle, select.POLLIN)
        if self.notifier is not None:
            poll.register(self.notifier.listener, select.POLLIN)
        tick = _FIRST_TICK
        last_look = self._started
        try:
            while True:
                ready = {fd for fd, _ in poll.poll(math.ceil(1000 * self._pause(tick)))}
                if self.notifier is not None and self.notifier.listener in ready:
                    self.notifier.answer()
                    if time.monotonic() - last_look < tick:
                        continue
                last_look = time.monotonic()
                ended = self._ended(pid)
                if ended is not None:
                    return ended, None
                if control.fileno() in ready:
                    return None, self._told(control)
                breach = self._breach()
                if breach is not None:
                    return None, breach
                tick = min(tick * 1.5, _LAST_TICK)
        finally:
            os.close(handle)

    def _pause(self, tick: float) -> float:
        if self._deadline is None:
            return tick
        return max(0.0, min(tick, self._started + self._deadline - time.monotonic()))

    def _ended(self, pid: int) -> int | None:
        """Reap what has ended; the candidate's wait status if it is among them."""
        while True:
            try:
                found, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return None
            if found == 0:
                return None
            if found == pid:
                self.peak = max(self.peak, used.ru_maxrss * 1024)
                return status

    def _told(self, control: socket.socket) -> tuple[str, str]:
        received = frames.receive(control)
        if received is None:  # the host is dead: so are we, and with pid 1 the whole namespace
            self._slot.kill()
            os._exit(0)
        kind = received[0].get("stop")
        return str(kind), str(received[0].get("message", ""))

    def _breach(self) -> tuple[str, str] | None:
        now = time.monotonic() - self._started
        if not self._slot.namespaces and os.getppid() != self._parent:  # the fork server is dead
            self._slot.kill()
            os._exit(0)
        if self._deadline is not None and now >= self._deadline:
            return "timeout", f"wall clock: still running after {self._deadline:g} s, the limit"
        limits = self._limits
        members = self._slot.members()
        usage = watch.measure(members, limits["memory_mb"] * watch.MB)
        self.peak = max(self.peak, usage.memory)
        if usage.memory > limits["memory_mb"] * watch.MB:
            used = f"{usage.memory / watch.MB:,.0f} MB in {len(members)} processes"
            return "memory", f"memory: {used}, the limit is {limits['memory_mb']:,} MB"
        if usage.tasks > limits["processes"]:
            used = f"{usage.tasks} processes and threads"
            return "processes", f"processes: {used}, the limit is {limits['processes']}"
        cpu = usage.cpu + watch.reaped_cpu() - self._cpu_before
        if limits["cpu_seconds"] is not None and cpu > limits["cpu_seconds"]:
            return "cpu", f"CPU: {cpu:.1f} s used, the limit is {limits['cpu_seconds']:g} s"
        if self._slot.namespaces and watch.unix_sockets() > _MOST_SOCKETS:
            return "memory", f"memory: more than {_MOST_SOCKETS:,} sockets, whose buffers no limit counts"
        if watch.machine_is_short_of_memory():
            return "memory", "memory: this machine has less than 2 % left; the job was stopped to save it"
        return self.disk_breach(members) if now >= self._next_disk else None

    def disk_breach(self, members: list[int]) -> tuple[str, str] | None:
        if self._slot.in_memory:
            return None
        begun = time.monotonic()
        used = self._slot.disk(members)
        taken = time.monotonic() - begun
        self._next_disk = begun - self._started + max(_DISK_EVERY, 5 * taken)
        limit = self._limits["disk_mb"]
        if used > limit * watch.MB:
            return (
                "disk",
                f"disk: {used / watch.MB:,.0f} MB written (12 KiB an entry at least), the limit is {limit:,} MB",
            )
        return None


def _be_quick() -> bool:
    """Go before the candidates, so that a bomb does not delay the one who defuses it; False without the right to."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, _PRIORITY)
    except OSError:
        return False
    return True


def _start_notifier(link: socket.socket, slot: Slot) -> notifier.SeccompNotifier | None:
    """Take the filter's listener from the candidate; None if it ended before it had one."""
    try:
        link.settimeout(_KILL_SECONDS)
        _, fds, _, _ = socket.recv_fds(link, 1, 1)
    except OSError:
        return None
    finally:
        link.close()
    return notifier.SeccompNotifier(fds[0], slot.roots()) if fds else None


def _tell(control: socket.socket, message: dict[str, Any]) -> None:
    try:
        frames.send(control, message)
    except OSError:  # the host is gone; nobody is left to tell
        pass
