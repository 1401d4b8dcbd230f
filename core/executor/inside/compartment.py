"""What the jobs of one supervisor live in: namespaces (or none), private folders, processes."""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import suppress

from . import confine, copying, kernel, landlock, messages, mounts, overlay, watch

_KILL_SECONDS = 5.0
_OF_BWRAP = 2
"""bwrap looks after the job from outside of its namespaces, and as their first process."""


class Compartment:
    """One set of namespaces (or none) and the private folders in it, for one job after the other."""

    def __init__(self, setup: messages.SlotSetup, layout: mounts.Layout) -> None:
        self.setup = setup
        self.namespaces = setup.tier == "warm"
        self.in_memory = self.namespaces and (setup.in_memory or setup.workspace is None)
        """The kernel holds jobs to their limit; nobody looks at their files, whose names would stay in our memory."""
        self.uid = setup.uid
        self.helpers = _OF_BWRAP if setup.tier == "bubblewrap" else 0
        """Processes below us that are none of the job's."""
        self.layout = layout
        self.rules: int | None = None
        """In namespaces: descriptor of what Landlock lets candidates do."""
        self._host: int | None = None
        self._base = overlay.Overlay(setup.base) if setup.base is not None and self.namespaces else None
        self._fresh: tuple[object, ...] | None = None
        """What the private folders look like as long as nobody has touched them; None before the first job."""
        self._last_number: int | None = None
        """Descriptor of the kernel's count of processes in our namespace."""

    def open(self) -> None:
        workspace = self.setup.workspace
        if workspace is not None:
            self._place_inputs(workspace)
            self._host = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY)
            if not self.in_memory and self.uid is not None and self.setup.base is None:
                _give(workspace, self.uid)
        if not self.namespaces:
            self._step_down()
            return
        mounts.enter(
            self.layout,
            disk_mb=self.setup.disk_mb,
            uid=self.uid,
            inputs=self.setup.inputs,
            workspace=None if self.in_memory else workspace,
            base=self._base,
        )
        kernel.shrink_bounding_set()
        self._make_rules()
        with suppress(OSError):  # a kernel without checkpoints
            self._last_number = os.open("/proc/sys/kernel/ns_last_pid", os.O_WRONLY)

    def _make_rules(self) -> None:
        if self.rules is not None:
            os.close(self.rules)
        self.rules = landlock.ruleset(confine.rules(self.layout))

    def _step_down(self) -> None:
        """As root without namespaces the supervisor takes the candidate's uid itself: it must look into its memory."""
        assert self.setup.workspace is not None
        temporary = os.path.join(self.setup.workspace, ".tmp")
        os.makedirs(temporary, mode=0o700, exist_ok=True)
        if self.uid is not None:
            os.chown(temporary, self.uid, self.uid)
            kernel.become(self.uid, needed_to_read(self.roots()))

    def roots(self) -> list[str]:
        """What a candidate without a file system of its own may look into."""
        return [
            *self.layout.read_only,
            *self.layout.devices,
            *self.own(),
        ]

    def hidden(self) -> list[str]:
        """What it may not look into, although it lies there, but for what is its own."""
        return [*self.layout.hidden, *self.layout.working]

    def own(self) -> list[str]:
        return list(filter(None, (self.setup.workspace, self.setup.inputs)))

    def _place_inputs(self, workspace: str) -> None:
        """`input` in the host's workspace: no link where something is mounted, else a link to where the data lies."""
        if not self.setup.inputs:
            return
        place = os.path.join(workspace, "input")
        if os.path.islink(place):
            os.unlink(place)
        if self.setup.tier in ("warm", "bubblewrap"):
            return
        try:
            os.rmdir(place)
        except OSError:  # there is none, or it is not empty: what lies there is not ours to remove
            pass
        if not os.path.lexists(place):
            os.symlink(self.setup.inputs, place)

    def fill(self, disk_mb: int) -> None:
        """Before a job: empty private folders with what lies in the host's workspace."""
        if not self.namespaces or (self._host is not None and not self.in_memory):
            return
        if self._fresh is not None and self._fresh == mounts.look(disk_mb):
            return
        if self._fresh is not None:
            mounts.renew_private(mounts.tmpfs_mb(disk_mb, self.layout.memory), self.uid, self.layout.inner())
            self._make_rules()
        mounts.date_back()
        self._fresh = mounts.look(disk_mb)
        if self._base is not None:
            self._base.remove(mounts.WORKSPACE, self.setup.replaced)
        if self._host is not None:
            self._copy(self._host, mounts.WORKSPACE)
            if self.uid is not None and self._base is None:  # a tree's files are ours: its programs only read them
                _give(mounts.WORKSPACE, self.uid)
        if self._base is not None:
            self._base.open_up(mounts.WORKSPACE, self.setup.writable)

    def count_anew(self) -> None:
        """Let each job's processes have the same numbers: whatever ran here before, and however many it started."""
        if self._last_number is not None:
            with suppress(OSError):
                os.pwrite(self._last_number, b"1", 0)

    def collect(self, disk_mb: int) -> None:
        """After a job, when all its processes are dead: what it left goes to the host's workspace."""
        if self.in_memory and self._host is not None:
            copying.clear_folder(self._host, keep=frozenset({"input"}))
            source = self._written()
            try:
                copying.copy_tree(source, self._host, budget=disk_mb * watch.MB, skip=frozenset({"input"}))
            finally:
                os.close(source)

    def _written(self) -> int:
        """Descriptor of what the job has left; without the tree below it."""
        if self._base is not None:
            return os.dup(self._base.upper)
        return os.open(mounts.WORKSPACE, os.O_RDONLY | os.O_DIRECTORY)

    def overlaid(self) -> list[str]:
        """Paths of the base that something lies over; [] without one."""
        return [] if self._base is None else self._base.overlaid()

    def _copy(self, source: int, target: str) -> None:
        folder = os.open(target, os.O_RDONLY | os.O_DIRECTORY)
        try:
            copying.copy_tree(source, folder, budget=1 << 40, skip=frozenset({"input"}))
        finally:
            os.close(folder)

    def members(self) -> list[int]:
        return watch.namespace_members() if self.namespaces else watch.descendants(os.getpid())

    def kill(self, handle: int) -> None:
        """Kill and reap every process of the job; returns when none is left.

        Args:
            handle: pidfd of the job's first process: most jobs have no other.
        """
        first = select.poll()
        first.register(handle, select.POLLIN)
        end = time.monotonic() + _KILL_SECONDS
        while time.monotonic() < end:
            if self.namespaces:
                _signal(-1)
            else:
                for pid in self.members():
                    _signal(pid)
            if not first.poll(1000 * _KILL_SECONDS):
                continue
            if _reap() and not (_is_accompanied() if self.namespaces else self.members()):
                return
            time.sleep(0.001)

    def disk_below(self) -> watch.Disk | None:
        """Where the job's files lie, if that is not a file system of its own."""
        folder = mounts.WORKSPACE if self.namespaces else self.setup.workspace
        return None if self.in_memory or folder is None else watch.Disk(folder)

    def disk(self, pids: list[int]) -> int:
        """Bytes that the job keeps, where no quota of the kernel's holds it."""
        folder = mounts.WORKSPACE if self.namespaces else self.setup.workspace
        shown = {f"{mounts.WORKSPACE}/input", *self.layout.inner()}
        used = watch.disk_usage(folder, shown) + watch.unlinked_usage(pids) if folder else 0
        return max(0, used - self.setup.charged)


def needed_to_read(paths: list[str]) -> int:
    """Capabilities without which another uid cannot reach `paths`: none where their folders are open to all.

    What they would allow beyond that, Landlock refuses.
    """
    for path in paths:
        path = path if os.path.isdir(path) else os.path.dirname(path)  # only folders are passed through
        while path != "/":
            if not os.stat(path).st_mode & 0o001:
                return reading()
            path = os.path.dirname(path)
    return 0


def reading() -> int:
    """The capability that reads what belongs to others, as a bit set: the smallest that we hold; 0 without one."""
    held = kernel.effective_capabilities()
    for capability in (kernel.CAP_DAC_READ_SEARCH, kernel.CAP_DAC_OVERRIDE):
        if held >> capability & 1:
            return 1 << capability
    return 0


def _give(folder: str, uid: int) -> None:
    """Make a tree the candidate's, all but its input."""
    os.chown(folder, uid, uid, follow_symlinks=False)
    handle = copying.open_folder(folder)
    try:
        copying.give(handle, uid, skip=frozenset({"input"}))
    finally:
        os.close(handle)


def _signal(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def _is_accompanied() -> bool:
    """True while another process is in the namespace whose first process we are."""
    try:
        os.kill(-1, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _reap() -> bool:
    """Wait for what has ended; True when no child is left."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return False
        except ChildProcessError:
            return True
