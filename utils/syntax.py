"""Parsing Python from several threads at once."""

from __future__ import annotations

import ast
import re
import threading
from functools import lru_cache

_LOCK = threading.Lock()
_ATTEMPTS = 8

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")


@lru_cache(maxsize=16)  # the programs of a round are written at the same time
def parse_shared(source: str) -> ast.Module:
    """`parse` for who only looks: the same tree for all who ask of the same program. It must not be changed."""
    return parse(source)


def parse(source: str) -> ast.Module:
    """`ast.parse` that threads may share.

    CPython 3.11 keeps one recursion counter for all threads while it turns a tree into objects (gh-106905): when a
    garbage collection lets another thread in, a sound program raises SystemError. One thread at a time is let in here,
    and a parse that somebody disturbed from outside is done again.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse`.
    """
    for attempt in range(_ATTEMPTS):
        try:
            with _LOCK:
                return ast.parse(source)
        except SystemError:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def source_lines(source: str) -> list[str]:
    """The lines as `lineno` counts them, with their ends; joined, they are `source`.

    `str.splitlines` also ends a line at a form feed, a file separator or U+2028, which may stand inside of a string.
    """
    return _LINE.findall(source)
