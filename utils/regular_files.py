"""Regular files of a folder that a stranger filled: links are neither followed nor told, pipes are not waited for."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import Any

from utils.folder_entries import Entry, entries

DOCUMENT = 1 << 26
"""Bytes, at most, of a document of ours: labels, a configuration, a node with its program and output."""
_OPEN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


CACHES = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".DS_Store"})
"""What tools leave beside the files that they read."""


def regular_files(folder: Path) -> Iterator[Entry]:
    """Every regular file below a folder but caches, in the order of names. To be read by its name and its parent."""
    found = entries(folder, lambda path: path.rpartition("/")[2] in CACHES)
    return (entry for entry in found if stat.S_ISREG(entry.status.st_mode))


def regular_handle(path: Path | str, flags: int = os.O_RDONLY, parent: int | None = None) -> int:
    """A descriptor of it, opened without waiting for anybody.

    Args:
        parent: descriptor of the folder that a name stands in.
    Raises:
        OSError: it is a link or no regular file, or cannot be opened.
    """
    handle = os.open(path, flags | _OPEN, 0o644, dir_fd=parent)
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise OSError(f"{path} is no regular file")


def open_regular(path: Path | str, parent: int | None = None) -> BufferedReader:
    """It, to be read.

    Raises:
        OSError: as `regular_handle`.
    """
    return open(regular_handle(path, parent=parent), "rb")


def read_regular(path: Path | str, most: int, parent: int | None = None) -> str:
    """Its text.

    Raises:
        OSError: as `regular_handle`. ValueError: it is larger than `most` bytes, or no UTF-8.
    """
    with open_regular(path, parent) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise ValueError(f"is larger than {most:,} bytes")
    return data.decode("utf-8")


def read_json(path: Path, most: int = DOCUMENT) -> Any:
    """What it says.

    Raises:
        OSError, ValueError: as `read_regular`; ValueError also for what is no JSON, or is nested too deep.
    """
    try:
        return json.loads(read_regular(path, most))
    except RecursionError as error:
        raise ValueError(f"{path.name} is nested too deep") from error


def write_regular(folder: Path, name: str, text: str) -> None:
    """Write a file below a folder that a stranger may have filled: no link in it is followed, and what stands at its
    place, a link or another name of somebody's file, gives way to a file of its own.

    Args:
        name: its path below `folder`, which may itself be a link.
    Raises:
        OSError: it cannot be written, or a folder on the way is a link.
    """
    folder.mkdir(parents=True, exist_ok=True)
    *above, last = Path(name).parts
    parent = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in above:
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=parent)
            inside = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _OPEN, dir_fd=parent)
            os.close(parent)
            parent = inside
        partial = f".{os.getpid()}-{os.urandom(4).hex()}.partial"
        try:
            handle = regular_handle(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, parent)
            with open(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(partial, last, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with suppress(OSError):
                os.unlink(partial, dir_fd=parent)
            raise
    finally:
        os.close(parent)


def copy_regular(source: Path, target: Path) -> Path:
    """Write its content to `target`, and that it can be run if so; no owner's or group's rights go along.

    A target that leads to the source itself stays as it is.

    Raises:
        OSError: as `regular_handle`.
    """
    with open_regular(source) as file, open(target, "ab") as copy:
        if os.path.sameopenfile(file.fileno(), copy.fileno()):
            return target
        copy.truncate(0)
        shutil.copyfileobj(file, copy)
        if os.fstat(file.fileno()).st_mode & stat.S_IXUSR:
            os.fchmod(copy.fileno(), os.fstat(copy.fileno()).st_mode | stat.S_IXUSR)
    return target


def end_of(path: Path, most: int) -> tuple[bytes, int]:
    """(its last bytes, at most so many; its size).

    Raises:
        OSError: as `regular_handle`.
    """
    with open_regular(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - most))
        return file.read(most), size
