"""Where the user wants something written: tried before the work whose result goes there, and told in one line."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from utils.errors import DISK_FAULTS, ConfigError


@contextmanager
def writes(option: str, path: Path) -> Iterator[None]:
    """What the user named as a place to write is told in one line where it is none."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise
        raise ConfigError(f"--{option} {path}: cannot be written ({error.strerror})") from error
    except ValueError as error:
        if "\0" not in str(path):
            raise
        raise ConfigError(f"--{option}: a path holds no zero bytes") from error


_FULL = DISK_FAULTS - {errno.EROFS}
"""What a disk does to any write, wherever the user wants it."""


def make_folder_of(option: str, path: Path) -> None:
    """The folder of a file that the user named, where it is not there. ConfigError where it cannot be made."""
    with writes(option, path):
        path.parent.mkdir(parents=True, exist_ok=True)


def check_file_place(option: str, path: Path) -> None:
    """Raise ConfigError where this file cannot be written, in a folder that may have to be made (`make_folder_of`):
    before the work whose result it is to hold."""
    with writes(option, path):
        try:
            path.lstat()
        except FileNotFoundError:  # nothing is tried under its own name: somebody may wait for that
            return _try_folder(path.parent)
        if path.exists() and not path.is_file() and not path.is_dir():
            return  # a pipe or a device, which opening may keep waiting
        path.open("ab").close()


def check_folder_place(option: str, path: Path) -> None:
    """Raise ConfigError where this folder cannot be made or written into."""
    with writes(option, path):
        _try_folder(path)


def _try_folder(path: Path) -> None:
    there = next(parent for parent in (path.absolute(), *path.absolute().parents) if os.path.lexists(parent))
    with tempfile.TemporaryDirectory(dir=there, prefix=".swarm-evo-"):
        pass
