"""How much memory there is: the machine's, or that of our cgroup (a container, a scheduler's job) where it has less.

Where a cgroup has none left the kernel ends a process in it, whatever the machine has, and not always who took it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

_SHORT = 0.02
_LEAST = 256 << 20
_CGROUPS, _OWN = "/sys/fs/cgroup", "/proc/self/cgroup"
_PIECE = 1 << 14


@dataclass(frozen=True)
class _Group:
    """A cgroup with a limit; its files stay open where the file system that shows them is left."""

    limit: int
    used: int
    told: int
    """Descriptors of how much it uses, and of what that consists of."""
    cached: tuple[bytes, ...]
    """What of that is given back when somebody needs it."""

    def is_short(self) -> bool:
        left = self.limit - int(os.pread(self.used, _PIECE, 0))
        if left >= _least(self.limit):
            return False
        fields = os.pread(self.told, _PIECE, 0).split()
        values = dict(zip(fields[::2], fields[1::2]))  # noqa: B905 - Python 3.9
        return left + sum(int(values.get(name, 0)) for name in self.cached) < _least(self.limit)


class Memory:
    """The memory that we and all that we start can use. To be made where the system's files are in view."""

    def __init__(self) -> None:
        self._groups = list(_groups())

    def is_short(self) -> bool:
        """True when less than 2 % of it are left, or than 256 MB where that is no more than a tenth: the last line
        against memory that no process is charged for.
        """
        try:
            return _machine_is_short() or any(group.is_short() for group in self._groups)
        except (OSError, ValueError, IndexError):
            return False


def shared() -> int:
    """Bytes of all programs that lie in memory which may be several's, mapped or not; 0 where nobody says."""
    try:
        return _told().get("Shmem", 0)
    except (OSError, ValueError, IndexError):
        return 0


@cache
def total() -> int:
    """Bytes of it all."""
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *(limit for _, limit, *_ in _limits())])


def _least(whole: int) -> float:
    return max(_SHORT * whole, min(_LEAST, whole / 10))


def _told() -> dict[str, int]:
    """Bytes by their names in /proc/meminfo."""
    with open("/proc/meminfo") as file:
        lines = (line.partition(":")[::2] for line in file)
        return {name: int(rest.split()[0]) << 10 for name, rest in lines}


def _machine_is_short() -> bool:
    values = _told()
    whole = values.get("MemTotal", 1)
    return values.get("MemAvailable", whole) < _least(whole)


def _groups() -> Iterator[_Group]:
    for folder, limit, used, cached in _limits():
        try:
            held = os.open(f"{folder}/{used}", os.O_RDONLY | os.O_CLOEXEC)
            told = os.open(f"{folder}/memory.stat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
        yield _Group(limit, held, told, cached)


def _limits() -> Iterator[tuple[str, int, str, tuple[bytes, ...]]]:
    """(folder, limit, file of what is used, names of what is cached) of our cgroup and those above it, of either kind.

    In a container our own may be shown as the root of them all.
    """
    try:
        with open(_OWN) as file:
            lines = file.read().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        newer = not controllers
        if not newer and "memory" not in controllers.split(","):
            continue
        root = _CGROUPS if newer else f"{_CGROUPS}/memory"
        name, used = ("memory.max", "memory.current") if newer else ("memory.limit_in_bytes", "memory.usage_in_bytes")
        cached = (b"active_file", b"inactive_file") if newer else (b"total_active_file", b"total_inactive_file")
        for folder in _upwards(root, path):
            try:
                with open(f"{folder}/{name}") as file:
                    limit = int(file.read())
            except (OSError, ValueError):  # it has none, or is not shown
                continue
            if limit < 1 << 60:
                yield folder, limit, used, cached


def _upwards(root: str, path: str) -> Iterator[str]:
    parts = [part for part in path.split("/") if part]
    for count in range(len(parts), -1, -1):
        yield "/".join((root, *parts[:count]))
