"""What lies below a folder in which somebody untrusted may still be writing.

Each folder is opened in the one above it and never by its path: one that becomes a link between two looks leads
nowhere, and no nesting is too long for a path.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

DEEPEST = 200
"""Folders within folders: what lies deeper is not told. No program needs as many, and each takes a descriptor."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, a folder, a link, …"""

    path: str
    """Below the folder that was asked for, with slashes."""
    status: os.stat_result
    """Of itself, not of what a link leads to."""
    parent: int
    """Descriptor of the folder that it lies in, until the next entry is asked for."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def is_too_deep(self) -> bool:
        """A folder of which nothing is told."""
        return self.is_folder and self.path.count("/") >= DEEPEST


Passed = Callable[[str], bool]
"""Path below the folder → whether it is passed over, with all that lies below."""


def entries(folder: Path, passed: Passed = lambda path: False, *, reopen: bool = False) -> Iterator[Entry]:
    """Everything below `folder`, in the order of names, what lies in a folder after what lies beside it.

    What vanishes meanwhile is left out, the folder itself too, and so is what nobody may look at.

    Args:
        reopen: a folder that was closed to us is opened again: its modes are changed.
    """
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    yield from _below(handle, "", passed, reopen)


def _below(folder: int, prefix: str, passed: Passed, reopen: bool) -> Iterator[Entry]:
    """Closes `folder` in the end."""
    folders = []
    try:
        for name in sorted(_listed(folder)):
            if passed(prefix + name):
                continue
            try:
                entry = Entry(prefix + name, os.stat(name, dir_fd=folder, follow_symlinks=False), folder)
            except OSError:
                continue
            yield entry
            if entry.is_folder and not entry.is_too_deep:
                folders.append(entry)
        for entry in folders:
            inner = _opened(entry, reopen)
            if inner is not None:
                yield from _below(inner, f"{entry.path}/", passed, reopen)
    finally:
        os.close(folder)


def _listed(folder: int) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _opened(entry: Entry, reopen: bool) -> int | None:
    try:
        if reopen and entry.status.st_mode & 0o500 != 0o500:
            _give_rights_back(entry)
        return os.open(entry.name, _FOLDER, dir_fd=entry.parent)
    except OSError:
        return None


def _give_rights_back(entry: Entry) -> None:
    handle = os.open(entry.name, _FOLDER | os.O_PATH, dir_fd=entry.parent)
    try:
        os.chmod(f"/proc/self/fd/{handle}", 0o700)
    finally:
        os.close(handle)


def is_there(folder: Path, name: str) -> bool:
    """True if anything lies at that path below `folder`; a link or a file in place of a folder above it is something.

    Args:
        name: a path of ours, with slashes.
    """
    *above, last = PurePosixPath(name).parts
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        for part in above:
            inner = os.open(part, _FOLDER, dir_fd=handle)
            os.close(handle)
            handle = inner
        os.stat(last, dir_fd=handle, follow_symlinks=False)
        return True
    except FileNotFoundError:
        return False
    except OSError:
        return True
    finally:
        os.close(handle)
