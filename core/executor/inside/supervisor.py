"""The supervisor: trusted, first process of the job's pid namespace, dead when host or fork server is.

It builds the file system, starts one candidate after the other, measures the tree against the limits, kills, and
reports over a socket that no candidate ever holds. Without namespaces it finds the tree by descent instead.
"""

from __future__ import annotations

import math
import os
import select
import signal
import socket
import time
from dataclasses import replace
from types import CodeType

from . import candidate, confine, copying, kernel, messages, mounts, notifier, watch
from .compartment import Compartment
from .interpreter import Interpreter
from .memory import Memory, shared
from .messages import Fault, Job, Report, Rest, SlotSetup, Start, Stop

_FIRST_TICK, _LAST_TICK, _RESTING_TICK = 0.03, 0.05, 1.0
"""Seconds between two looks: the first comes when small candidates have mostly ended."""
_KILL_SECONDS = 5.0
_ROOM_SECONDS = 15.0
"""So long a candidate waits for room for its process."""
_DISK_EVERY = 0.1
_FASTEST_WRITE = 4 << 30
"""Bytes a second: where little room is left, the disk is looked at before a program can have filled it."""
_PRIORITY = -5


def serve(
    control: socket.socket, layout: mounts.Layout, owner: tuple[int, int] | None, interpreter: Interpreter
) -> Start:
    """Run one job after the other until the host is gone. Returns only in a candidate's process.

    Args:
        control: our end of the host's socket.
        owner: uid and gid to keep in a new user namespace, None where there is none.
    """
    supervisor = _Supervisor(control, interpreter)
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
            signal.signal(number, signal.SIG_IGN)  # pid 1 is deaf to what it does not handle
        if layout.namespaces:  # elsewhere it must live long enough to kill what it looks after
            kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        if owner is not None:
            kernel.map_identity(*owner)
        received = messages.receive(control)
        if received is None:
            os._exit(0)
        assert isinstance(received[0], SlotSetup)
        supervisor.settle(Compartment(received[0], replace(layout, devices=received[0].devices)))
        start = supervisor.run_jobs()
        if start is not None:
            return start
    except BaseException as error:  # noqa: BLE001 - whatever broke is told to the host
        _tell(control, Fault(f"{type(error).__name__}: {error}", lost=supervisor.started))
    os._exit(0)


class _Supervisor:
    """Runs the jobs that the host sends, one after the other, in one compartment."""

    def __init__(self, control: socket.socket, interpreter: Interpreter) -> None:
        self.started = False
        """A candidate has run since the host sent its last job."""
        self._control = control
        self._interpreter = interpreter
        self._prelude: tuple[str, CodeType | None] = "", None
        """Source and code of the newest job's prelude: most candidates have the same."""
        self._private = confine.private_memory()
        self._nice = os.getpriority(os.PRIO_PROCESS, 0)

    def settle(self, compartment: Compartment) -> None:
        """Take our place before any candidate is there."""
        _raise_priority()
        self._memory = Memory()
        self._compartment = compartment
        if not compartment.namespaces:
            kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
        compartment.open()
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)

    def run_jobs(self) -> Start | None:
        """Until the host is gone: None. In a process just forked for a candidate: what it is to become."""
        while (received := messages.receive(self._control)) is not None:
            job, fds = received
            if not isinstance(job, Job):  # a Stop for a job that had ended by itself
                continue
            start = self._one_job(job, fds)
            if start is not None:
                return start
        return None

    def _one_job(self, job: Job, fds: list[int]) -> Start | None:
        place = self._compartment
        self.started = False
        place.fill(job.limits.disk_mb)
        if place.setup.tier != "bubblewrap":  # a fresh interpreter arranges itself
            self._interpreter.arrange_ahead(job.env, place.setup.home, place.setup.tier)
            self._interpreter.seed_ahead(job.seed)
        if job.prelude != self._prelude[0]:
            self._prelude = job.prelude, candidate.compiled(job.prelude, candidate.PRELUDE)
        before = watch.reaped_cpu()
        ours, theirs = socket.socketpair() if place.setup.tier == "lite" else (None, None)
        told_began, tells_began = os.pipe()
        self.started = True
        *own, text = fds
        mine = job, place.setup, place.layout, own, text, self._nice, self._private, self._prelude[1]
        start = Start(*mine, theirs, place.rules, tells_began)
        pid, began = self._forked(job)
        if pid == 0:
            os.close(self._control.detach())
            return start
        del start
        for fd in (*fds, tells_began):
            os.close(fd)
        handle = os.pidfd_open(pid)
        watching = _Watching(place, job, began, handle, self._memory)
        if ours is not None and theirs is not None:
            theirs.close()
            watching.notifier = _start_notifier(ours, place)
        try:
            status, breach = watching.until_end(self._control, pid)
            place.kill(handle)
            has_begun = os.read(told_began, 1) == candidate.BEGUN  # whoever held the other end is dead
        finally:
            os.close(handle)
            os.close(told_began)
        if watching.notifier is not None:
            os.close(watching.notifier.listener)
        seconds = time.monotonic() - began
        breach = breach or watching.disk_breach([])
        place.collect(job.limits.disk_mb)
        cpu = watch.reaped_cpu() - before
        told = None if breach is None else [*breach]
        _tell(self._control, Report(status, told, seconds, cpu, watching.peak, has_begun, place.overlaid()))
        return None

    def _forked(self, job: Job) -> tuple[int, float]:
        """(process, when) of the candidate, once there is room for one: another's may have filled it for a while.

        Who waits for a session's answer has a clock of its own, and is told at once.
        """
        end = time.monotonic() + (0.0 if job.answers else _ROOM_SECONDS)
        while True:
            self._compartment.count_anew()
            began = time.monotonic()
            try:
                return os.fork(), began
            except OSError as error:
                heard = select.poll()
                heard.register(self._control, select.POLLIN)
                if not messages.is_shortage(error) or began > end or heard.poll(1000 * _LAST_TICK):
                    raise


class _Watching:
    """One job against its limits.

    Args:
        started: seconds by the monotonic clock.
        handle: pidfd of its candidate.
    """

    def __init__(self, place: Compartment, job: Job, started: float, handle: int, memory: Memory) -> None:
        self.peak = 0
        self.notifier: notifier.SeccompNotifier | None = None
        self._place = place
        self._memory = memory
        self._shared_before = shared()
        self._limits = job.limits
        self._deadline = job.deadline
        self._handle = handle
        self._started = started
        self._resting = False
        self._cpu_before = watch.reaped_cpu()
        self._next_disk = _DISK_EVERY if place.setup.charged else 0.0
        self._parent = os.getppid()
        self._below = place.disk_below()

    def until_end(self, control: socket.socket, pid: int) -> tuple[int | None, tuple[str, str] | None]:
        """Wait for the candidate, a breach or the host's word. Returns wait status and (kind, message) of a breach."""
        poll = select.poll()
        poll.register(control, select.POLLIN)
        poll.register(self._handle, select.POLLIN)
        if self.notifier is not None:
            poll.register(self.notifier.listener, select.POLLIN)
        tick = _FIRST_TICK
        last_look = self._started
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
            told = self._told(control) if control.fileno() in ready else None
            breach = told or self._breach()
            if breach is not None:
                return None, breach
            tick = _RESTING_TICK if self._resting else min(tick * 1.5, _LAST_TICK)

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

    def _told(self, control: socket.socket) -> tuple[str, str] | None:
        """The end that the host wants, if it does."""
        received = messages.receive(control)
        if received is None:  # the host is dead: so are we, and with pid 1 the whole namespace
            self._place.kill(self._handle)
            os._exit(0)
        if isinstance(received[0], Rest):
            self._resting = received[0].resting
            return None
        assert isinstance(received[0], Stop)
        return received[0].kind, ""

    def _breach(self) -> tuple[str, str] | None:
        now = time.monotonic() - self._started
        if not self._place.namespaces and os.getppid() != self._parent:  # the fork server is dead
            self._place.kill(self._handle)
            os._exit(0)
        if self._deadline is not None and now >= self._deadline:
            return "timeout", f"wall clock: still running after {self._deadline:g} s, the limit"
        limits = self._limits
        members = self._place.members()
        usage = watch.measure(members, limits.memory_mb * watch.MB)
        self.peak = max(self.peak, usage.memory)
        memory = usage.memory + watch.buffers(members, own_network=self._place.namespaces)
        if memory + self._shared_since() > limits.memory_mb * watch.MB:  # by this job or another
            memory += watch.shared_memory(members)
        if memory > limits.memory_mb * watch.MB:
            holders = "1 process" if len(members) == 1 else f"{len(members)} processes"
            used = f"{memory / watch.MB:,.0f} MB in {holders}"
            return "memory", f"memory: {used}, the limit is {limits.memory_mb:,} MB"
        if usage.tasks - self._place.helpers > limits.processes:
            tasks = usage.tasks - self._place.helpers
            return "processes", f"processes: {tasks} with all threads, the limit is {limits.processes}"
        cpu = usage.cpu + watch.reaped_cpu() - self._cpu_before
        if limits.cpu_seconds is not None and cpu > limits.cpu_seconds:
            return "cpu", f"CPU: {cpu:.1f} s used, the limit is {limits.cpu_seconds:g} s"
        if self._memory.is_short():
            return (
                "memory",
                "memory: this machine, or its cgroup, has next to none left; the job was stopped to save it",
            )
        return self.disk_breach(members) if now >= self._next_disk else None

    def _shared_since(self) -> int:
        """Bytes by which the machine's shared memory has grown since the job began."""
        return max(0, shared() - self._shared_before)

    def disk_breach(self, members: list[int]) -> tuple[str, str] | None:
        if self._below is None:
            return None
        begun = time.monotonic()
        used, left = self._place.disk(members), self._below.room()
        taken = time.monotonic() - begun
        limit = self._limits.disk_mb
        room = limit * watch.MB - used
        self._next_disk = begun - self._started + max(min(_DISK_EVERY, min(room, left) / _FASTEST_WRITE), 5 * taken)
        if left < 0:
            return "disk", "disk: this machine's has next to nothing left; the job was stopped to save it"
        if used >= watch.TOO_DEEP:
            return (
                "disk",
                f"disk: folders nested more than {copying.DEEPEST} deep, in which nobody counts what is written",
            )
        if room < 0:
            return (
                "disk",
                f"disk: {used / watch.MB:,.0f} MB written (12 KiB an entry at least), the limit is {limit:,} MB",
            )
        return None


def _raise_priority() -> None:
    """Go before the candidates, where we may, so that a bomb does not delay the one who defuses it."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, _PRIORITY)
    except OSError:
        pass


def _start_notifier(link: socket.socket, place: Compartment) -> notifier.SeccompNotifier | None:
    """Take the filter's listener from the candidate; None if it ended before it had one."""
    try:
        link.settimeout(_KILL_SECONDS)
        _, fds, _, _ = socket.recv_fds(link, 1, 1)
    except OSError:
        return None
    finally:
        link.close()
    if not fds:
        return None
    return notifier.SeccompNotifier(fds[0], place.roots(), place.hidden(), place.own(), place.setup.workspace)


def _tell(control: socket.socket, message: messages.Message) -> None:
    try:
        messages.send(control, message)
    except OSError:  # the host is gone; nobody is left to tell
        pass
