"""The regular files of a folder that a stranger filled: links are neither followed nor told."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path


def regular_files(folder: Path) -> Iterator[Path]:
    """Every regular file below a folder, in the order of names."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            if stat.S_ISREG(path.lstat().st_mode):
                yield path


def read_regular(path: Path, most: int) -> str:
    """Its text.

    Raises:
        OSError: it is a link, or cannot be read. ValueError: it is larger than `most` bytes, or no UTF-8.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_size > most:
            raise ValueError(f"is no regular file of at most {most} bytes")
        return file.read(most + 1).decode("utf-8")
