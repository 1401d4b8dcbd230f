"""Taking an output from a folder that an enemy wrote: never following a link, never blocking, never too much."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Collected:
    """A file's bytes, or None with the reason why it was not taken."""

    data: bytes | None
    reason: str = ""
    executable: bool = False


def collect_file(root: Path, relative: str, max_bytes: int) -> Collected:
    """Read `root/relative`: a regular file with one name, through real folders only, of at most `max_bytes`.

    Its blocks are looked at as well as its size, so that a sparse file cannot pass for a large one, and the size is
    checked again while reading, because a file may grow.
    """
    parts = PurePosixPath(relative).parts
    if not parts or relative.startswith("/") or ".." in parts or "\0" in relative:
        return Collected(None, f"{relative!r} is not a path inside the workspace")
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        return Collected(None, f"no workspace: {error.strerror}")
    try:
        for part in parts[:-1]:
            inner = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        return _read(folder, parts[-1], max_bytes)
    except FileNotFoundError:
        return Collected(None, "not written")
    except OSError as error:
        return Collected(None, f"not a plain file in plain folders ({error.strerror})")
    finally:
        os.close(folder)


def _read(folder: int, name: str, max_bytes: int) -> Collected:
    if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        return Collected(None, "not a plain file")  # opening a device could already do something
    fd = os.open(name, _FILE, dir_fd=folder)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            return Collected(None, "not a plain file")
        if found.st_nlink != 1:
            return Collected(None, f"the file has {found.st_nlink} names, only 1 is taken")
        if found.st_size > max_bytes:
            return Collected(None, f"{found.st_size:,} bytes, more than the {max_bytes:,} that are taken")
        if found.st_size > found.st_blocks * 512 + (1 << 20):
            return Collected(None, "the file is mostly holes")
        return replace(_read_all(fd, max_bytes), executable=bool(found.st_mode & stat.S_IXUSR))
    finally:
        os.close(fd)


def _read_all(fd: int, max_bytes: int) -> Collected:
    data = bytearray()
    while part := os.read(fd, min(1 << 20, max_bytes + 1 - len(data))):
        data += part
        if len(data) > max_bytes:
            return Collected(None, f"more than the {max_bytes:,} bytes that are taken")
    return Collected(bytes(data))
