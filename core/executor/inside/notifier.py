"""Answering calls that Landlock does not judge: looking at the metadata of a path, and changing its mode.

Without a mount namespace a program could learn that a file exists, how long it is and when it was changed. There the
filter hands such calls to the supervisor, which reads the path from the caller's memory, looks itself, and answers only
for what the job may see. Nothing is looked up twice, so a path that changes meanwhile gains nothing. Nor does a caller
that ends meanwhile, whose number another process may have by then: seccomp_unotify(2) says how that is known.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
from collections.abc import Callable, Sequence

from . import syscalls

_RECEIVE, _SEND, _VALID = 0xC0502100, 0xC0182101, 0x40082102
_CONTINUE = 1
_AT_FDCWD, _AT_NOFOLLOW, _AT_EMPTY_PATH = -100, 0x100, 0x1000
_LONGEST_PATH = 4096
_EXECUTABLE = 0o111
_GLOBAL_FILES = (
    "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version",
    "/proc/sys/kernel/cap_last_cap", "/proc/sys/vm/overcommit_memory", "/proc/self", "/proc",
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev",
)  # fmt: skip

Arguments = tuple[int, int, int, int, int, int]


class SeccompNotifier:
    """Answers for one job.

    Args:
        listener: descriptor of the filter.
        roots: folders that the job may look into.
        hidden: real paths below them that it may not.
        own: what is its own, also where it lies in something hidden.
        workspace: of that, the folder in which its files may become executable; None: nowhere.
    """

    def __init__(
        self,
        listener: int,
        roots: Sequence[str],
        hidden: Sequence[str] = (),
        own: Sequence[str] = (),
        workspace: str | None = None,
    ) -> None:
        self.listener = listener
        self._roots = tuple(os.path.realpath(root) for root in roots) + tuple(roots)
        self._hidden = tuple(hidden)
        self._own = tuple(map(os.path.realpath, own))
        self._workspace = () if workspace is None else (os.path.realpath(workspace),)
        self._above = {parent for root in self._roots for parent in _parents(root)}
        names: dict[str, Callable[[Caller, Arguments], tuple[int, int]]] = {
            "stat": lambda who, a: self._stat(who, _AT_FDCWD, a[0], a[1], 0),
            "lstat": lambda who, a: self._stat(who, _AT_FDCWD, a[0], a[1], _AT_NOFOLLOW),
            "fstat": lambda who, a: self._fstat(who, _signed(a[0]), a[1]),
            "newfstatat": lambda who, a: self._stat(who, _signed(a[0]), a[1], a[2], a[3]),
            "access": lambda who, a: self._access(who, _AT_FDCWD, a[0], a[1]),
            "faccessat": lambda who, a: self._access(who, _signed(a[0]), a[1], a[2]),
            "readlink": lambda who, a: self._readlink(who, _AT_FDCWD, a[0], a[1], a[2]),
            "readlinkat": lambda who, a: self._readlink(who, _signed(a[0]), a[1], a[2], a[3]),
            "chdir": lambda who, a: self._chdir(who, a[0]),
            "chmod": lambda who, a: self._chmod(who, _AT_FDCWD, a[0], a[1], 0),
            "fchmod": lambda who, a: self._fchmod(who, _signed(a[0]), a[1]),
            "fchmodat": lambda who, a: self._chmod(who, _signed(a[0]), a[1], a[2], 0),
            "fchmodat2": lambda who, a: self._chmod(who, _signed(a[0]), a[1], a[2], a[3]),
        }
        self._calls = {syscalls.number(name): handler for name, handler in names.items()}

    def answer(self) -> None:
        """Take one waiting call and answer it."""
        request = bytearray(80)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, request)
        except OSError:  # the caller was killed meanwhile
            return
        id_, pid, _, number, _, _, *args = struct.unpack("=QIIiIQ6Q", request)
        error, flags = errno.EACCES, 0
        try:
            handler = self._calls.get(number)
            if handler is None:
                raise OSError(errno.ENOSYS, "not answered here")
            with Caller(self.listener, id_, pid) as caller:
                value, flags = handler(caller, tuple(args))
            error = 0
        except OSError as failed:
            value, error = 0, failed.errno or errno.EACCES
        except (ValueError, OverflowError):
            value, error = 0, errno.EINVAL
        try:
            fcntl.ioctl(self.listener, _SEND, struct.pack("=QqiI", id_, value if not error else 0, -error, flags))
        except OSError:
            pass

    def _stat(self, who: Caller, folder: int, path: int, buffer: int, flags: int) -> tuple[int, int]:
        text = who.read_path(path)
        if not text and flags & _AT_EMPTY_PATH:
            return self._fstat(who, folder, buffer)
        fd = self._open(who, folder, text, follow=not flags & _AT_NOFOLLOW)
        try:
            who.write(buffer, _pack(os.fstat(fd)))
        finally:
            os.close(fd)
        return 0, 0

    def _fstat(self, who: Caller, fd: int, buffer: int) -> tuple[int, int]:
        try:
            found = os.stat(_name(fd), dir_fd=who.folder)
        except FileNotFoundError:
            raise OSError(errno.EBADF, "no such descriptor") from None
        who.write(buffer, _pack(found))
        return 0, 0

    def _access(self, who: Caller, folder: int, path: int, mode: int) -> tuple[int, int]:
        fd = self._open(who, folder, who.read_path(path), follow=True)
        try:
            if not os.access(f"/proc/self/fd/{fd}", mode & 7):
                raise OSError(errno.EACCES, "no access")
        finally:
            os.close(fd)
        return 0, 0

    def _readlink(self, who: Caller, folder: int, path: int, buffer: int, size: int) -> tuple[int, int]:
        fd = self._open(who, folder, who.read_path(path), follow=False)
        try:
            if not stat.S_ISLNK(os.fstat(fd).st_mode):  # of a descriptor the kernel says another error: ENOENT
                raise OSError(errno.EINVAL, "not a link")
            target = os.readlink(b"", dir_fd=fd)[: min(size, _LONGEST_PATH)]
        finally:
            os.close(fd)
        who.write(buffer, target)
        return len(target), 0

    def _chdir(self, who: Caller, path: int) -> tuple[int, int]:
        """The caller's own folder cannot be changed for it. What it may find there is judged again at each call."""
        os.close(self._open(who, _AT_FDCWD, who.read_path(path), follow=True))
        return 0, _CONTINUE

    def _chmod(self, who: Caller, folder: int, path: int, mode: int, flags: int) -> tuple[int, int]:
        text = who.read_path(path)
        if not text and flags & _AT_EMPTY_PATH:
            return self._fchmod(who, folder, mode)
        return self._make_executable(self._open(who, folder, text, follow=not flags & _AT_NOFOLLOW), mode)

    def _fchmod(self, who: Caller, fd: int, mode: int) -> tuple[int, int]:
        try:
            found = os.open(_name(fd), os.O_PATH | os.O_CLOEXEC, dir_fd=who.folder)
        except FileNotFoundError:
            raise OSError(errno.EBADF, "no such descriptor") from None
        return self._make_executable(found, mode)

    def _make_executable(self, fd: int, mode: int) -> tuple[int, int]:
        """Of a mode that is asked for, do what linkers and scripts need: who may execute a file of the workspace.

        The job could have made the file so. All else does nothing and reports success: what is closed to us could not
        be counted, and other files are not the job's.
        """
        try:
            before = os.fstat(fd).st_mode
            if stat.S_ISREG(before) and _lies_in(os.readlink(f"/proc/self/fd/{fd}"), self._workspace):
                os.chmod(f"/proc/self/fd/{fd}", stat.S_IMODE(before) & ~_EXECUTABLE | mode & _EXECUTABLE)
        finally:
            os.close(fd)
        return 0, 0

    def _open(self, who: Caller, folder: int, path: bytes, *, follow: bool) -> int:
        """The file itself (O_PATH), if the job may know about it."""
        if not path:
            raise OSError(errno.ENOENT, "empty path")
        text, pid = os.fsdecode(path), who.pid
        for own in ("/proc/self", "/proc/thread-self", "/dev/fd"):
            if text == own or text.startswith(own + "/"):
                text = (f"/proc/{pid}/fd" if own == "/dev/fd" else f"/proc/{pid}") + text[len(own) :]
        base = os.open(_name(folder), os.O_PATH, dir_fd=who.folder)
        try:
            fd = os.open(text, os.O_PATH | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW), dir_fd=base)
        except OSError as error:
            # that a path outside is missing is not told either
            within = self._may_see(os.path.normpath(os.path.join(os.readlink(f"/proc/self/fd/{base}"), text)), pid)
            raise error if within else OSError(errno.EACCES, "hidden") from error
        finally:
            os.close(base)
        if not self._may_see(os.readlink(f"/proc/self/fd/{fd}"), pid):
            os.close(fd)
            raise OSError(errno.EACCES, "hidden")
        return fd

    def _may_see(self, path: str, pid: int) -> bool:
        if path in self._above or _lies_in(path, (*self._own, f"/proc/{pid}")):
            return True
        if _lies_in(path, self._hidden):
            return False
        return path in _GLOBAL_FILES or not path.startswith("/") or _lies_in(path, self._roots)


def _lies_in(path: str, places: Sequence[str]) -> bool:
    return any(path == place or path.startswith(place + "/") for place in places)


def _parents(path: str) -> list[str]:
    found = []
    while path != "/":
        path = os.path.dirname(path)
        found.append(path)
    return found


def _signed(value: int) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


class Caller:
    """The process that waits for an answer, by a handle that is never another's.

    Args:
        listener: descriptor of the filter.
        id_: of the call.
        pid: its number when it called.
    """

    def __init__(self, listener: int, id_: int, pid: int) -> None:
        self.pid = pid
        self.folder = os.open(f"/proc/{pid}", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        """Its folder in /proc."""
        self._listener = listener
        self._id = id_

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *exception: object) -> None:
        os.close(self.folder)

    def read_path(self, address: int) -> bytes:
        """The text at `address`, up to its NUL."""
        memory = os.open("mem", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.folder)
        try:
            text = b""
            while len(text) <= _LONGEST_PATH:
                size = min(4096 - (address + len(text)) % 4096, 512)
                part = os.pread(memory, size, address + len(text))
                end = part.find(b"\0")
                if end >= 0:
                    self._must_wait()
                    return text + part[:end]
                text += part
            raise OSError(errno.ENAMETOOLONG, "path too long")
        except OSError as error:
            raise OSError(errno.EFAULT if error.errno == errno.EIO else error.errno, "unreadable path") from error
        finally:
            os.close(memory)

    def write(self, address: int, data: bytes) -> None:
        memory = os.open("mem", os.O_WRONLY | os.O_CLOEXEC, dir_fd=self.folder)
        try:
            self._must_wait()
            os.pwrite(memory, data, address)
        except OSError as error:
            raise OSError(errno.EFAULT, "unwritable buffer") from error
        finally:
            os.close(memory)

    def _must_wait(self) -> None:
        """OSError unless the call is still open: then our handle, which is younger than it, is the caller's."""
        fcntl.ioctl(self._listener, _VALID, struct.pack("=Q", self._id))


def _name(fd: int) -> str:
    """Of a descriptor, in a process's folder in /proc."""
    return "cwd" if fd == _AT_FDCWD else f"fd/{fd}"


def _pack(found: os.stat_result) -> bytes:
    """`struct stat` of this machine. When a file was last read is not told: others may have read it."""
    times = [part for ns in (found.st_mtime_ns, found.st_mtime_ns, found.st_ctime_ns) for part in divmod(ns, 10**9)]
    mode, links = found.st_mode, found.st_nlink
    if stat.S_IFMT(mode) == 0:
        mode |= stat.S_IFREG
    if syscalls.machine() == "x86_64":
        head = struct.pack("=QQQIIII", found.st_dev, found.st_ino, links, mode, found.st_uid, found.st_gid, 0)
        sizes = struct.pack("=Qqqq", found.st_rdev, found.st_size, found.st_blksize, found.st_blocks)
        return head + sizes + struct.pack("=6q", *times) + bytes(24)
    head = struct.pack("=QQIIII", found.st_dev, found.st_ino, mode, links, found.st_uid, found.st_gid)
    sizes = struct.pack("=QQqiiq", found.st_rdev, 0, found.st_size, found.st_blksize, 0, found.st_blocks)
    return head + sizes + struct.pack("=6q", *times) + bytes(8)
