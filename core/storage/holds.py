"""Holds: what requests that left can cost at most, until their answers are stored; a file beside the store."""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Iterable
from math import inf
from pathlib import Path

from core.storage.database import Database
from utils.errors import StoreError
from utils.file_utils import write_atomic
from utils.regular_files import read_regular, regular_handle
from utils.shared_property import shared_property

FILE = "held.jsonl"
"""In the run's folder: a line for a request that leaves, and one for each that is let go of."""
ANSWERED = "answered_holds"
"""Fact: the names of holds whose answers are stored and that may still stand in the file beside the store."""
_OLDER = "held/"
"""Prefix of the facts that held the worst case of requests without an answer, in stores of earlier versions."""
_LONG = 65_536
"""Bytes from which on the file is written anew with what is still held."""
_MOST = 1 << 24
"""Bytes; no file of ours is longer."""


class Holds:
    """Written before a request leaves and read by the next process after a kill. Thread-safe; a run has one writer.

    A line is one write; in the store each request would be a transaction of its own. The file is read when it is first
    asked for: who only looks at a run has no use for it.

    Raises:
        StoreError: the file cannot be read or written, or is not as it was written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._handle: int | None = None
        self._size = 0

    @shared_property
    def _held(self) -> dict[str, tuple[int, float]]:
        return _read(self._path)

    def add(self, name: str, tokens: int, usd: float) -> None:
        """A request leaves that can cost so much."""
        with self._lock:
            self._held[name] = tokens, usd
            try:
                self._write([name, tokens, usd])
            except StoreError:  # it does not leave
                del self._held[name]
                raise

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
        try:
            if self._handle is None or self._size > _LONG:
                self._let_go()
                lines = [json.dumps([name, *amounts]) + "\n" for name, amounts in self._held.items()]
                write_atomic(self._path, "".join(lines))
                self._handle, self._size = regular_handle(self._path, os.O_WRONLY | os.O_APPEND), 0
                return
            told = (json.dumps(line) + "\n").encode()
            if os.write(self._handle, told) < len(told):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self._size += len(told)
        except OSError as error:
            self._let_go()  # the next line writes all anew
            raise StoreError(f"'{self._path}' cannot be written: {error.strerror or error}") from error

    def _let_go(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


def held_facts(db: Database) -> list[tuple[int, float]]:
    """(tokens, dollars) of each that a store of an earlier version holds itself."""
    rows = db.rows("SELECT value FROM facts WHERE key LIKE ? || '%'", (_OLDER,))
    return [(int(tokens), float(usd)) for tokens, usd in (row["value"] for row in rows)]


def held_in(path: Path, answered: Iterable[str] = ()) -> list[tuple[int, float]]:
    """(tokens, dollars) of each that is held by that file; for who only looks.

    Args:
        answered: names of those whose answers are stored, and that the file may still hold.
    """
    known = frozenset(answered)
    return [amounts for name, amounts in _read(path).items() if name not in known]


def _read(path: Path) -> dict[str, tuple[int, float]]:
    """What is held by the file's lines. One that is cut off is the last: its request never left."""
    held: dict[str, tuple[int, float]] = {}
    try:
        *lines, _ = read_regular(path, _MOST).split("\n")
        for line in lines:
            name, *amounts = json.loads(line)
            if amounts:
                held[name] = _amounts(*amounts)
            else:
                held.pop(name, None)
    except FileNotFoundError:
        return held
    except OSError as error:
        raise StoreError(f"'{path}' cannot be read: {' '.join(str(error).split())[:200]}") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreError(f"'{path}' is not as it was written: {' '.join(str(error).split())[:200]}") from error
    return held


def _amounts(tokens: int, usd: float) -> tuple[int, float]:
    """ValueError for what nothing costs."""
    if type(tokens) is not int or not isinstance(usd, int | float) or tokens < 0 or not 0 <= usd < inf:
        raise ValueError(f"a request that may cost {tokens!r} tokens and {usd!r} dollars")
    return tokens, float(usd)
