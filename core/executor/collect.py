"""Taking an output from a folder that an enemy wrote: never following a link, never blocking, never too much."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from utils.folder_entries import entries

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


MOST_FILES = 10_000
"""Of one folder."""


@dataclass(frozen=True, slots=True)
class Collected:
    """A file's bytes, or None with the reason why it was not taken."""

    data: bytes | None
    reason: str = ""
    executable: bool = False


@dataclass(frozen=True, slots=True)
class CollectedFolder:
    """What lies in a folder by its path there, or None with the reason why it was not taken."""

    files: dict[str, bytes] | None
    reason: str = ""


def collect_folder(root: Path, relative: str, max_bytes: int) -> CollectedFolder:
    """Read all files below `root/relative`, as `collect_file` does: at most `max_bytes` and `MOST_FILES` together.

    Links and other special files are nobody's output. A file that cannot be taken, or whose name cannot be shown, is a
    reason to take none: a grader would judge the others.
    """
    place = PurePosixPath(relative)
    if not place.parts or place.is_absolute() or ".." in place.parts:
        return CollectedFolder(None, f"{relative!r} is not a path inside the workspace")
    if not all(_is_real_folder(root.joinpath(*place.parts[:end])) for end in range(1, len(place.parts) + 1)):
        return CollectedFolder(None, "not written, or not a plain folder")
    files: dict[str, bytes] = {}
    left = max_bytes
    for entry in entries(root / place):
        if entry.is_too_deep or not entry.path.isprintable():
            return CollectedFolder(None, f"{entry.path!r:.200}: such a name is not taken")
        if not stat.S_ISREG(entry.status.st_mode):
            continue
        if entry.status.st_size > left:
            return CollectedFolder(None, f"its files are more than the {max_bytes:,} bytes that are taken together")
        taken = collect_file(root, f"{place}/{entry.path}", left)
        if taken.data is None:
            return CollectedFolder(None, f"{entry.path!r:.200}: {taken.reason}")
        files[entry.path] = taken.data
        left -= len(taken.data)
        if len(files) > MOST_FILES:
            return CollectedFolder(None, f"more than the {MOST_FILES:,} files that are taken")
    return CollectedFolder(files) if files else CollectedFolder(None, "it holds no file")


def _is_real_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


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
