"""The file system that a candidate sees: built in a private mount namespace, from nothing.

/usr, /lib…, the interpreter   read-only binds of the host's
/workspace /tmp /dev/shm       one size-limited tmpfs: bytes and inodes have a hard limit that unlinked, mapped and
                               sparse files count towards, and nothing reaches the host's disk
/workspace/input               read-only bind
/proc                          of the job's own pid namespace; what tells of the machine as a whole is covered
/dev                           null, zero, full, random, urandom, and GPUs where asked for
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from . import hiding, kernel, memory, overlay

WORKSPACE = "/workspace"
PRIVATE = (WORKSPACE, "/tmp", "/dev/shm")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
PROC = frozenset((
    "self", "thread-self", "net", "mounts", "sys",
    "cpuinfo", "meminfo", "stat", "loadavg", "uptime", "version", "filesystems",
))  # fmt: skip
"""What programs need of /proc besides their processes. All else tells of the machine: its command line, configuration,
modules, keys, locks."""
PROC_OF_DRIVERS = frozenset(("driver", "devices", "modules"))
"""What a GPU's libraries read, too."""
FIXED = {"PYTHONHASHSEED": "0", "PYTHONSAFEPATH": "1"}
"""Environment of interpreters of ours: sets iterate alike in every run. So they are not started with `-I`, which would
ignore it; nothing else of the environment is given to them."""
CACHES = ("JOBLIB_TEMP_FOLDER", "MPLCONFIGDIR", "NUMBA_CACHE_DIR", "CUDA_CACHE_PATH", "TRITON_CACHE_DIR")
"""Variables of a candidate's environment that keep what libraries store for themselves out of its workspace."""
INODE_BYTES = 12 * 1024
"""What one file, folder or link is charged against the disk limit, at least."""
_FLAGS = kernel.MS_NOSUID | kernel.MS_NODEV
_OLD_ROOT, _EMPTY, _PARKED = ".old", ".empty", ".parked"


@dataclass(frozen=True)
class Layout:
    """What is the same for all jobs of a sandbox, and which GPUs those of a slot may use."""

    scratch: str
    """An empty folder of the host to mount the new root on."""
    read_only: list[str] = field(default_factory=list)
    """Host paths to show under their own names; missing ones are left out."""
    devices: Sequence[str] = ()
    """GPU device nodes."""
    namespaces: bool = True
    hidden: list[str] = field(default_factory=list)
    """Real paths below `read_only` that candidates do not see; in namespaces they are covered already."""
    whole: list[str] = field(default_factory=list)
    """Without namespaces: what may be read."""
    listed: list[str] = field(default_factory=list)
    """Without namespaces: folders that may only be listed."""
    working: list[str] = field(default_factory=list)
    """Real paths below `read_only` where candidates' own folders lie: each sees its own, and no other."""

    memory: int = field(default_factory=memory.total)
    """Bytes of memory that there are."""

    def inner(self) -> list[str]:
        """Those of `read_only` below a private folder, an interpreter in /tmp for one: they are shown there."""
        return [path for path in self.read_only if any(path.startswith(f"{own}/") for own in PRIVATE)]


def enter(
    layout: Layout,
    *,
    disk_mb: int,
    uid: int | None,
    inputs: str | None,
    workspace: str | None,
    base: overlay.Overlay | None = None,
) -> None:
    """Build the view in the current mount namespace and make it the root.

    Args:
        disk_mb: limit of all that the job writes anywhere.
        uid: owner of the private folders, None for the user that we are.
        inputs: host folder for /workspace/input.
        workspace: host folder to bind as /workspace, None for a folder in memory.
        base: what lies below the folder in memory.
    """
    root = layout.scratch
    os.umask(0o022)  # whatever ours is: as root, who is to pass through these folders is another user
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    late = [(path, os.open(path, os.O_PATH)) for path in layout.inner()]
    given = [None if path is None else os.open(path, os.O_PATH) for path in (inputs, workspace)]
    kernel.mount("tmpfs", root, "tmpfs", _FLAGS, "mode=755,size=4m,nr_inodes=8k")
    for path in layout.read_only:
        if path not in layout.inner():
            _show(path, root)
    for path in (*DEVICES, *layout.devices):
        if os.path.exists(path):
            kernel.mount(path, _point(root + path, is_folder=False), None, kernel.MS_BIND)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink(f"/proc/self/fd{target}", f"{root}/dev/{name}")
    os.makedirs(root + "/proc", exist_ok=True)
    kernel.mount("proc", root + "/proc", "proc", _FLAGS | kernel.MS_NOEXEC)
    _cover(root, covered(f"{root}/proc", bool(layout.devices)))
    mount_private(root, tmpfs_mb(disk_mb, layout.memory), uid, given[1], base)
    for number, (path, fd) in enumerate(late):
        kernel.bind(f"/proc/self/fd/{fd}", _point(root + path, is_folder=os.path.isdir(path)), read_only=True)
        _point(f"{root}/{_PARKED}/{number}", is_folder=os.path.isdir(path))
    for path in hiding.aliases(layout.working, layout.read_only):
        kernel.mount(f"{root}/{_EMPTY}", root + path, None, kernel.MS_BIND)
    if given[0] is not None:
        target = _point(f"{root}{WORKSPACE}/input", is_folder=True)
        kernel.bind(f"/proc/self/fd/{given[0]}", target, read_only=True)
    for fd in [fd for _, fd in late] + [fd for fd in given if fd is not None]:
        os.close(fd)
    _pivot(root)


def covered(proc: str, gpus: bool) -> list[os.DirEntry[str]]:
    """The entries of a /proc that candidates do not see."""
    needed = PROC | (PROC_OF_DRIVERS if gpus else frozenset())
    with os.scandir(proc) as entries:
        return [entry for entry in entries if not entry.name.isdigit() and entry.name not in needed]


def _cover(root: str, entries: list[os.DirEntry[str]]) -> None:
    """Lay something empty over files and folders."""
    folder, file = _point(f"{root}/{_EMPTY}", is_folder=True), root + "/dev/null"
    for entry in entries:
        kernel.mount(folder if entry.is_dir(follow_symlinks=False) else file, entry.path, None, kernel.MS_BIND)


def mount_private(
    root: str, disk_mb: int, uid: int | None, workspace: int | None = None, base: overlay.Overlay | None = None
) -> None:
    """Mount empty private folders below `root`.

    Args:
        workspace: descriptor of a host folder to use for the first.
        base: a tree that the first is laid over.
    """
    inodes = max(64, disk_mb * 1024 * 1024 // INODE_BYTES)
    for path in PRIVATE:
        _point(root + path, is_folder=True)
    spool = root + WORKSPACE
    kernel.mount("tmpfs", spool, "tmpfs", _FLAGS | kernel.MS_NOATIME, f"mode=755,size={disk_mb}m,nr_inodes={inodes}")
    for name, mode in (("tmp", 0o1777), ("shm", 0o1777), ("work", 0o700)):
        os.mkdir(f"{spool}/{name}")
        os.chmod(f"{spool}/{name}", mode)
        if uid is not None:
            os.chown(f"{spool}/{name}", uid, uid)
    kernel.mount(f"{spool}/tmp", root + "/tmp", None, kernel.MS_BIND)
    kernel.mount(f"{spool}/shm", root + "/dev/shm", None, kernel.MS_BIND)
    if base is not None:
        base.mount(spool)
    elif workspace is None:
        kernel.mount(f"{spool}/work", spool, None, kernel.MS_BIND)
    else:
        kernel.bind(f"/proc/self/fd/{workspace}", spool, read_only=False)


def date_back() -> None:
    """Give the private folders a time long ago: whatever is made or removed in them is later, see `look`."""
    for path in PRIVATE:
        os.utime(path, ns=(0, 0))


def look(disk_mb: int) -> tuple[object, ...]:
    """What the private folders look like: equal as long as no job has left anything in them, not even an attribute.

    Args:
        disk_mb: their limit is part of it.
    """
    used = os.statvfs(WORKSPACE)
    folders = [(*found[:7], found.st_mtime_ns, found.st_ctime_ns) for found in map(os.stat, PRIVATE)]
    return (disk_mb, used.f_bfree, used.f_ffree, *folders, *map(kernel.attributes, PRIVATE))


def tmpfs_mb(disk_mb: int, whole: int) -> int:
    """A tmpfs lies in memory: a quarter of the `whole` bytes at most, whatever the limit for the host's disk is."""
    return min(disk_mb, max(16, whole >> 22))


def renew_private(disk_mb: int, uid: int | None, inner: list[str]) -> None:
    """Throw away all that a job wrote: new empty private folders in place of the old. All its processes are dead.

    Args:
        inner: what is shown below private folders and stays: it is moved out of the way and back.
    """
    parked = [f"/{_PARKED}/{number}" for number in range(len(inner))]
    for path, place in zip(inner, parked):  # noqa: B905 - Python 3.9
        kernel.mount(path, place, None, kernel.MS_MOVE)
    for path in ("/dev/shm", "/tmp", WORKSPACE, WORKSPACE):
        kernel.unmount(path, kernel.MNT_DETACH)
    mount_private("", disk_mb, uid)
    for path, place in zip(inner, parked):  # noqa: B905 - as above
        kernel.mount(place, _point(path, is_folder=os.path.isdir(place)), None, kernel.MS_MOVE)


def _show(path: str, root: str) -> None:
    if os.path.islink(path) and path.count("/") == 1:  # /lib -> usr/lib
        os.symlink(os.readlink(path), root + path)
    elif os.path.exists(path):
        kernel.bind(path, _point(root + path, is_folder=os.path.isdir(path)), read_only=True)


def _point(path: str, *, is_folder: bool) -> str:
    """Make an empty folder or file to mount on."""
    folder = path if is_folder else os.path.dirname(path)
    os.makedirs(folder, mode=0o755, exist_ok=True)
    if not is_folder and not os.path.exists(path):
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o644))
    return path


def _pivot(root: str) -> None:
    os.mkdir(f"{root}/{_OLD_ROOT}")
    os.chdir(root)
    kernel.syscall("pivot_root", b".", _OLD_ROOT.encode())
    os.chdir("/")
    kernel.unmount("/" + _OLD_ROOT, kernel.MNT_DETACH)
    os.rmdir("/" + _OLD_ROOT)
    kernel.mount(None, "/", None, kernel.MS_BIND | kernel.MS_REMOUNT | kernel.MS_RDONLY | _FLAGS)
