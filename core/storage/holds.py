"""Holds: what requests that left can cost at most, until their answers are stored; a file beside the store."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

from utils.file_utils import write_atomic

FILE = "held.jsonl"
"""In the run's folder: a line for a request that leaves, and one for each that is let go of."""
_LONG = 65_536
"""Bytes from which on the file is written anew with what is still held."""


class Holds:
    """Written before a request leaves and read by the next process after a kill. Thread-safe; a run has one writer.

    A line is one write; in the store each request would be a transaction of its own.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._held = _read(path)
        self._handle: int | None = None
        self._size = 0

    def add(self, name: str, tokens: int, usd: float) -> None:
        """A request leaves that can cost so much."""
        with self._lock:
            self._held[name] = tokens, usd
            self._write([name, tokens, usd])

    def drop(self, name: str) -> None:
        """Its answer is stored, or it is known to have cost nothing. Nothing happens for one that is not held."""
        with self._lock:
            if self._held.pop(name, None) is not None:
                self._write([name])

    def all(self) -> list[tuple[int, float]]:
        """(tokens, dollars) of each that is held."""
        with self._lock:
            return list(self._held.values())

    def close(self) -> None:
        """Let go of the file; a further line opens it again."""
        with self._lock:
            self._let_go()

    def _write(self, line: list[str | int | float]) -> None:
        if self._handle is None or self._size > _LONG:
            self._let_go()
            lines = [json.dumps([name, *amounts]) + "\n" for name, amounts in self._held.items()]
            write_atomic(self._path, "".join(lines))
            self._handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            self._size = 0
            return
        self._size += os.write(self._handle, (json.dumps(line) + "\n").encode())

    def _let_go(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def _read(path: Path) -> dict[str, tuple[int, float]]:
    """What is held by the file's lines. The last one may be cut off: its request never left."""
    held: dict[str, tuple[int, float]] = {}
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return held
    for line in text.splitlines():
        try:
            name, *amounts = json.loads(line)
        except ValueError:
            continue
        if amounts:
            held[name] = int(amounts[0]), float(amounts[1])
        else:
            held.pop(name, None)
    return held
