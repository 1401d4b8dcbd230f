"""What a job's processes use, read from /proc, and which limit that oversteps.

Names that a program chose for its processes and sockets are read with it. They leave no trace in our memory, which the
next program is forked with.
"""

from __future__ import annotations

import os
import re
import resource
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from . import copying

PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = os.sysconf("SC_CLK_TCK")
MB = 1 << 20
_PIECE = 1 << 13
"""Bytes that are read at once; what the kernel says of one process is shorter."""
_LINES = 1 << 16
"""Bytes that hold at least one line about a mapping, which names its file."""
_SHARED = re.compile(
    rb"^([0-9a-f]+)-([0-9a-f]+) ...s ([0-9a-f]+) [0-9a-f:]+ (\d+) +/dev/zero \(deleted\)$", re.MULTILINE
)
TOO_DEEP = 1 << 60
_LEAST_DISK = 256 << 20
_SOCKET_BUFFER = 256 << 10
"""Bytes that one socket may hold in the kernel with the buffer it is born with; the filter keeps it from growing."""
_FREE_SOCKETS = 64
"""Sockets and pipes that any program may have open, uncharged."""
_FREE_FILES = 16
"""Descriptors that any process may have open besides."""
_FEW_TABLES = 4 << 20
"""Bytes of page tables that any process may have: a fork of a large interpreter has some."""


@dataclass(frozen=True)
class Usage:
    """Of a whole process tree at one moment."""

    tasks: int = 0
    """Processes and threads."""
    memory: int = 0
    """Bytes: proportional set size where resident pages alone could overstep the limit, else resident pages."""
    cpu: float = 0.0
    """Seconds, with those of reaped children."""


def namespace_members() -> list[int]:
    """Every process of our pid namespace but its first; reads a /proc of that namespace."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]


def descendants(pid: int) -> list[int]:
    """Every process below `pid`, without itself."""
    found: list[int] = []
    todo = [pid]
    while todo:
        parent = todo.pop()
        for child in children(parent):
            found.append(child)
            todo.append(child)
    return found


def children(pid: int) -> list[int]:
    result: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                result += map(int, file.read().split())
    except OSError:
        pass
    return result


def measure(pids: Iterable[int], memory_limit: int) -> Usage:
    """Sum over `pids`; the dear proportional count is taken only when the cheap one is above `memory_limit` bytes."""
    holders: list[str] = []
    tasks, resident, tables, cpu = 0, 0, 0, 0.0
    for pid in pids:
        place = f"/proc/{pid}"
        fields = _stat(place)
        if not fields:
            continue
        tasks += int(fields[17])
        cpu += sum(map(int, fields[11:15])) / TICK
        pages = int(fields[21])
        if not pages:
            place, pages = next(_thread_holding(pid, _pages), (place, 0))
        holders.append(place)
        resident += pages * PAGE
        tables += _page_tables(place)
    if resident > memory_limit:
        resident = sum(map(_proportional, holders))
    return Usage(tasks, resident + max(0, tables - _FEW_TABLES * len(holders)), cpu)


def _thread_holding(pid: int, held: Callable[[str], int]) -> Iterator[tuple[str, int]]:
    """(folder in /proc, how much) of the further threads that hold something, where the process itself shows nothing.

    It shows what its first thread has, which may have ended while others go on. Memory and descriptors are the same for
    all threads of a process: the filter allows no others.
    """
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        place = f"/proc/{pid}/task/{thread}"
        if thread != str(pid) and (found := held(place)):
            yield place, found


def _pages(place: str) -> int:
    fields = _stat(place)
    return int(fields[21]) if fields else 0


def _page_tables(place: str) -> int:
    """Bytes of the kernel's page tables: reading a huge empty mapping here and there fills them and nothing else."""
    try:
        return int(_read_after(f"{place}/status", b"\nVmPTE:").split(None, 1)[0]) * 1024
    except (OSError, ValueError, IndexError):
        return 0


def _stat(place: str) -> list[str]:
    try:
        return _read_after(f"{place}/stat", b")").decode("ascii", "replace").split()
    except OSError:
        return []


def _read_after(path: str, mark: bytes) -> bytes:
    """What follows the last `mark` in a small file of the kernel's; b'' where there is none."""
    buffer, fd = bytearray(_PIECE), os.open(path, os.O_RDONLY)
    try:
        size = os.readv(fd, [buffer])
        at = buffer.rfind(mark, 0, size)
        return bytes(buffer[at + len(mark) : size]) if at >= 0 else b""
    finally:
        buffer[:] = bytes(_PIECE)
        os.close(fd)


def _count_lines(path: str) -> int:
    buffer, fd, count = bytearray(_PIECE), os.open(path, os.O_RDONLY), 0
    try:
        while size := os.readv(fd, [buffer]):
            count += buffer.count(b"\n", 0, size)
        return count
    finally:
        buffer[:] = bytes(_PIECE)
        os.close(fd)


def _proportional(place: str) -> int:
    """PSS with its swapped part; resident pages where the kernel does not let us look."""
    try:
        with open(f"{place}/smaps_rollup") as file:
            return sum(int(line.split()[1]) * 1024 for line in file if line.startswith(("Pss:", "SwapPss:")))
    except OSError:
        return _pages(place) * PAGE


def shared_memory(pids: Iterable[int]) -> int:
    """Bytes of shared memory without a file that `pids` hold beyond their pages: what a process has let go of
    stays there as long as a part of it is mapped, and is nobody's page.

    With root's rights the kernel says how much each holds. Elsewhere it is taken for filled as far as it is mapped.
    """
    held: dict[int, int] = {}
    counted = 0
    for pid in pids:
        place = f"/proc/{pid}"
        if not _pages(place):
            place = next(_thread_holding(pid, _pages), (place, 0))[0]
        try:
            for start, end, offset, inode in _shared_mappings(place):
                filled = _filled(place, start, end)
                held[inode] = max(held.get(inode, 0), offset + end - start if filled is None else filled)
            with open(f"{place}/smaps_rollup") as file:
                counted += sum(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss_Shmem:"))
        except OSError:
            continue
    return max(0, sum(held.values()) - counted)


def _shared_mappings(place: str) -> list[tuple[int, int, int, int]]:
    """(start, end, offset, inode) of each."""
    buffer, fd, found = bytearray(_LINES), os.open(f"{place}/maps", os.O_RDONLY), []
    try:
        while size := os.readv(fd, [buffer]):
            for line in _SHARED.finditer(buffer, 0, size):
                start, end, offset = (int(line[group], 16) for group in (1, 2, 3))
                found.append((start, end, offset, int(line[4])))
        return found
    finally:
        buffer[:] = bytes(_LINES)
        os.close(fd)


def _filled(place: str, start: int, end: int) -> int | None:
    """Bytes that the file behind a mapping holds; None where the kernel does not let us look."""
    try:
        return os.stat(f"{place}/map_files/{start:x}-{end:x}").st_blocks * 512
    except OSError:
        return None


def reaped_cpu() -> float:
    """CPU seconds of all children waited for so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def disk_usage(folder: str, shown: set[str]) -> int:
    """Bytes charged for a tree that an enemy may be changing: blocks, at least 12 KiB an entry; `TOO_DEEP` or more for
    one that is nested deeper than anybody could count.

    Args:
        shown: folders in it that are not the job's own and cost nothing.
    """
    try:
        return _charged(copying.open_folder(folder), folder, shown, copying.DEEPEST)
    except OSError:
        return 0


def _charged(folder: int, path: str, shown: set[str], levels: int) -> int:
    """Of an open folder, which is closed: by its path one that is nested deep enough could not be looked at."""
    total = 0
    try:
        for name in os.listdir(folder):
            try:
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                total += max(12 * 1024, found.st_blocks * 512)
                if stat.S_ISDIR(found.st_mode) and (inner := f"{path}/{name}") not in shown:
                    below = copying.open_folder(name, folder)
                    total += _charged(below, inner, shown, levels - 1) if levels else TOO_DEEP
            except OSError:
                continue
    finally:
        os.close(folder)
    return total


class Disk:
    """The disk that a folder lies on, from now on: the last line against files that nobody can count.

    Such are those that have no name any more and that only a mapping of memory holds, or a message between two sockets.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        total, free = self._looked()
        self._least = min(_LEAST_DISK, total // 10, free // 2)

    def room(self) -> int:
        """Bytes that may still be written by anybody; below 0 where less is left than the machine needs."""
        return self._looked()[1] - self._least

    def _looked(self) -> tuple[int, int]:
        found = os.statvfs(self._folder)
        return found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize


def unlinked_usage(pids: Iterable[int]) -> int:
    """Bytes of files that have no name any more but are held open by one of `pids`."""
    seen: dict[tuple[int, int], int] = {}
    for pid in pids:
        try:
            folder = _descriptors(pid)
            for fd in os.listdir(folder):
                found = os.stat(f"{folder}/{fd}")
                if found.st_nlink == 0 and found.st_blocks:
                    seen[found.st_dev, found.st_ino] = found.st_blocks * 512
        except OSError:
            continue
    return sum(seen.values())


def buffers(pids: Iterable[int], *, own_network: bool) -> int:
    """Bytes that the sockets and pipes of `pids` may hold in the kernel, beyond what any program has open.

    Every descriptor is taken for one. In a network namespace of their own all sockets are counted besides, also those
    that are on their way through another socket and so nobody's descriptor.
    """
    found = max(sum(map(_open_files, pids)), _unix_sockets() if own_network else 0)
    return max(0, found - _FREE_SOCKETS) * _SOCKET_BUFFER


def _unix_sockets() -> int:
    try:
        return max(0, _count_lines("/proc/net/unix") - 1)
    except OSError:
        return 0


def _descriptors(pid: int) -> str:
    """The folder in /proc that shows a process's descriptors."""
    own = f"/proc/{pid}"
    return f"{own if _count(own) else next(_thread_holding(pid, _count), (own, 0))[0]}/fd"


def _count(place: str) -> int:
    """How many descriptors it shows."""
    try:
        return len(os.listdir(f"{place}/fd"))
    except OSError:
        return 0


def _open_files(pid: int) -> int:
    count = _count(f"/proc/{pid}") or next(_thread_holding(pid, _count), ("", 0))[1]
    return max(0, count - _FREE_FILES)
