"""Frames of a session as msgpack, where both interpreters have it: the same data as JSON, quicker to write and to read.

A frame tells by its first byte which it is, so each side may write either. What the two forms would not carry alike
(other types, keys that are not texts, whole numbers beyond 64 bits, lone surrogates) goes as JSON, and so does a large
frame: a few bytes of msgpack can announce a huge list, which the reader's memory has to be made for before it comes.
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import Any

MOST_BYTES = 1 << 20
_MOST_LEVELS = 200
_FEW = 32
_SINGLE = {int, float, str, bool, type(None)}
_HOLDING = {list, tuple, dict}


@cache
def library() -> Any:
    """The module `msgpack`, or None."""
    try:
        import msgpack
    except ImportError:
        return None
    return msgpack


def pack(message: dict[str, Any]) -> bytes | None:
    """The frame's bytes; None for what is to go as JSON."""
    if not is_plain(message):
        return None
    try:
        data: bytes = library().packb(message)
    except (ValueError, OverflowError):  # surrogates (a ValueError), too many levels, too large a number
        return None
    return data if len(data) <= MOST_BYTES else None


def unpack(data: bytes) -> Any:
    """Read a frame that an enemy may have written. ValueError for anything that `pack` does not write."""
    if len(data) > MOST_BYTES:
        raise ValueError(f"msgpack of {len(data):,} bytes, at most {MOST_BYTES:,} are read")
    try:
        message = library().unpackb(data, max_bin_len=0, max_ext_len=0)
    except MemoryError as error:
        raise ValueError("lists longer than the memory") from error
    if not is_plain(message):
        raise ValueError("a kind that JSON does not have")
    return message


def is_packed(data: bytes) -> bool:
    return data[:1] != b"{"


def is_plain(message: Any) -> bool:
    """True if JSON would say the same: exact types, and keys that are texts.

    Few values are looked at one by one; of many, each level costs a few C loops.
    """
    found = _few_are_plain(message)
    return _are_plain([message]) if found is None else found


def _few_are_plain(message: Any) -> bool | None:
    """`is_plain` of a message of few values; None where there are more."""
    waiting = [message]
    for _ in range(_FEW):
        if not waiting:
            return True
        value = waiting.pop()
        kind = type(value)
        if kind in _SINGLE:
            continue
        if kind not in _HOLDING:
            return False
        if len(value) > _FEW:
            return None
        if kind is dict and set(map(type, value)) - {str}:
            return False
        waiting += value.values() if kind is dict else value
    return None if waiting else True


def _are_plain(level: list[Any]) -> bool:
    for _ in range(_MOST_LEVELS):
        kinds = set(map(type, level))
        if kinds <= _SINGLE:
            return True
        if not kinds <= _SINGLE | _HOLDING:
            return False
        if len(kinds) == 1 and dict not in kinds:
            level = list(chain.from_iterable(level))
            continue
        maps = [value for value in level if type(value) is dict]
        if not all(set(map(type, value)) <= {str} for value in maps):
            return False
        lists = [value for value in level if type(value) is list or type(value) is tuple]
        level = list(chain(chain.from_iterable(lists), chain.from_iterable(map(dict.values, maps))))
    return False
