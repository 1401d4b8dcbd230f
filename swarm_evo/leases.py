"""Tokens that this process asks with, in a file of the run that it keeps locked while it lives.

Where its process has died, whoever asks next (here, or as an MCP client) is given its tickets, instead of waiting until
they expire.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FOLDER = "leases"
_NAME = re.compile("[0-9a-f]{16}")
_PLAIN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MOST_BYTES = 1 << 20
_LOCK = threading.Lock()
_OURS: dict[tuple[int, Path], int] = {}
"""(process, run's folder) → the descriptor of its file, which the process's end closes: a ticket may outlive the object
that asked for it."""


def new_token(run_dir: Path) -> str:
    """A token, kept before anything is asked with it."""
    token = secrets.token_hex(16)
    with _LOCK:
        _keep(run_dir, [token])
    return token


def adopted(run_dir: Path) -> list[str]:
    """The tokens of processes that are gone; they are this process's from here on, until it dies too."""
    found: list[str] = []
    with _LOCK, suppress(OSError), _folder(run_dir) as folder:
        for name in sorted(filter(_NAME.fullmatch, os.listdir(folder))):
            with suppress(OSError), open(os.open(name, os.O_RDONLY | _PLAIN, dir_fd=folder), "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while its process lives, our own too
                if not os.fstat(file.fileno()).st_nlink:
                    continue  # another process adopted them meanwhile
                said = file.read(_MOST_BYTES).decode("ascii", "replace")
                tokens = [line for line in said.split("\n") if len(line) == 32]
                _keep(run_dir, tokens)  # here before they are dropped there: a kill loses none
                os.unlink(name, dir_fd=folder)
                found += tokens
    return found


@contextmanager
def _folder(run_dir: Path) -> Iterator[int]:
    """Descriptor of where they lie. A stranger's run may have a link there, and what it leads to would be removed."""
    folder = os.open(run_dir / FOLDER, os.O_RDONLY | os.O_DIRECTORY | _PLAIN)
    try:
        yield folder
    finally:
        os.close(folder)


def _keep(run_dir: Path, tokens: list[str]) -> None:
    """A folder that cannot be written keeps nothing: its tickets expire in their time."""
    with suppress(OSError):
        file = _OURS.get((os.getpid(), run_dir))
        os.write(_opened(run_dir) if file is None else file, "".join(f"{token}\n" for token in tokens).encode())


def _opened(run_dir: Path) -> int:
    (run_dir / FOLDER).mkdir(mode=0o700, exist_ok=True)
    with _folder(run_dir) as folder:
        name = secrets.token_hex(8)
        file = os.open(f".{name}", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.rename(f".{name}", name, src_dir_fd=folder, dst_dir_fd=folder)  # nobody ever sees it without its lock
    _OURS[os.getpid(), run_dir] = file
    return file
