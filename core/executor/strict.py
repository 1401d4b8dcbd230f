"""Reading what a candidate sends: nothing is believed, everything is bounded."""

from __future__ import annotations

import json
import math
from itertools import chain
from typing import Any

from core.executor.inside import packed, plain
from utils.counts import counted
from utils.json_cost import TooDear, check_cost

HEADER = 4
MOST_PARSED = 256 << 20
"""Bytes that one frame may become when it is read."""
_LARGEST = 10**300
"""Whole numbers above this overflow a float: they count as infinite."""
_HARMLESS = {bool, str, type(None)}


class Malformed(Exception):
    """The program broke the protocol of its session."""


class NotFinite(Exception):
    """An answer holds NaN, an infinity, or a whole number too large for a float.

    Args:
        text: which of the three.
        place: of the answer among those of its frame; None where only one was looked at.
    """

    def __init__(self, text: str, place: int | None = None) -> None:
        super().__init__(text)
        self.place = place


def decode(data: bytes, msgpack: bool = False) -> dict[str, Any]:
    """A frame is an object with exactly one key: `ready`, `answers`, `value` or `error`. JSON, or the same in msgpack
    where that was agreed on.
    """
    form = "msgpack" if msgpack and packed.is_packed(data) else "JSON"
    try:
        if form == "JSON":  # the other form is read only where it is short
            check_cost(data, MOST_PARSED)
        message = packed.unpack(data) if form == "msgpack" else json.loads(data)
    except TooDear as error:
        raise Malformed(str(error)) from error
    except (ValueError, RecursionError) as error:
        raise Malformed(f"a frame of {len(data):,} bytes that is not {form} ({type(error).__name__})") from error
    if type(message) is not dict or len(message) != 1:
        raise Malformed("a frame that is not an object with one key")
    return message


def answers(message: dict[str, Any], count: int, *, finite: bool) -> list[Any]:
    """Exactly `count` answers of plain data."""
    values = message["answers"]
    if type(values) is not list or len(values) != count:
        found = counted(len(values), "answer") if type(values) is list else type(values).__name__
        raise Malformed(f"{found} to {counted(count, 'call')}")
    if finite:
        try:
            check_finite(values)
        except NotFinite as error:
            raise NotFinite(str(error), next(filter(lambda at: _is_odd(values[at]), range(count)), None)) from error
    return values


def _is_odd(value: Any) -> bool:
    try:
        check_finite([value])
    except NotFinite:
        return True
    return False


def check_finite(values: list[Any]) -> None:
    """Raise NotFinite for a number that is not finite, at any depth. Each level costs a few C loops."""
    level: list[Any] = values
    while level:
        kinds = set(map(type, level))
        if float in kinds and not all(map(math.isfinite, (v for v in level if type(v) is float))):
            raise NotFinite("an answer holds NaN or an infinity")
        if int in kinds:
            whole = level if kinds == {int} else [v for v in level if type(v) is int]
            if max(whole) > _LARGEST or min(whole) < -_LARGEST:
                raise NotFinite("an answer holds a whole number too large for a float")
        if kinds <= {int, float, *_HARMLESS}:
            return
        inner = [v for v in level if type(v) is list]
        inner += [list(v.values()) for v in level if type(v) is dict]
        level = list(chain.from_iterable(inner))


def unwrap(value: Any) -> Any:
    """Richer plain data (`plain.wrap`): tuples, sets, bytes, complex numbers, numpy arrays of numbers."""
    try:
        return plain.unwrap(value)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"{error}") from error
