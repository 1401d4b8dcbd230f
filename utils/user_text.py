"""A file of the user's as text: whatever hinders reading it is one line that names the file and the remedy."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from utils.errors import ConfigError
from utils.missing_file import no_file

MOST = 1 << 26
"""Bytes of what is no regular file: a device may have no end."""


def user_text(path: str | Path, key: str) -> str:
    """Its text, without a byte order mark.

    Args:
        key: what named the file: `problem.program=`, `--edit `; it stands before the path in the message.

    Raises:
        ConfigError: it is missing, may not be read, or is no UTF-8.
    """
    data = user_bytes(path, key)
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{key}{path}: cannot be read as text: {no_utf8(error)}") from error


def user_bytes(path: str | Path, key: str) -> bytes:
    """Its content. ConfigError: it is missing, may not be read, or has no end."""
    try:
        with open(path, "rb") as file:
            is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            data = file.read() if is_file else file.read(MOST + 1)
    except (FileNotFoundError, IsADirectoryError) as error:
        raise ConfigError(f"{key}{path}: {no_file(path)}") from error
    except (OSError, ValueError) as error:  # a name with a null byte is a ValueError
        raise ConfigError(f"{key}{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if not is_file and len(data) > MOST:
        raise ConfigError(f"{key}{path}: is no file, and more than {MOST >> 20} MB come out of it")
    return data


def no_utf8(error: UnicodeDecodeError) -> str:
    """Where a text stops being UTF-8, and what to do about it."""
    line = error.object.count(b"\n", 0, error.start) + 1
    return f"line {line} holds the byte 0x{error.object[error.start]:02x}, which is no UTF-8; save the file as UTF-8"
