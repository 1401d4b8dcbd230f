"""Tokens of tickets that a living process holds for its client; those of a dead one are handed to whoever asks next.

A writer's process may be killed between lease and answer: without this, its proposal would wait until the ticket
expires.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

FOLDER = "leases"


class Leases:
    """One process's tokens for one run, in a file that it keeps locked while it lives."""

    def __init__(self, run_dir: Path) -> None:
        self._folder = run_dir / FOLDER
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._path = self._folder / secrets.token_hex(8)
        self._file: BinaryIO = self._path.open("xb", buffering=0)
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.orphans: list[str] = []
        """Tokens of processes that are gone, and of nobody else: from `adopt` on they are this process's."""

    def new(self) -> str:
        """A token, kept before anything is asked with it."""
        return self._keep(secrets.token_hex(16))

    def adopt(self) -> None:
        """Take over what dead processes held."""
        for path in sorted(self._folder.iterdir()):
            if path != self._path:
                with suppress(OSError), path.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    tokens = [line for line in file.read().decode("ascii", "replace").split("\n") if len(line) == 32]
                    self.orphans += map(
                        self._keep, tokens
                    )  # kept here before they are dropped there: a kill loses none
                    path.unlink()

    def close(self) -> None:
        """Let go: the tokens are orphans now."""
        self._file.close()

    def _keep(self, token: str) -> str:
        os.write(self._file.fileno(), f"{token}\n".encode())
        return token
