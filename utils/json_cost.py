"""How much memory JSON of a stranger's becomes when it is read: told from its bytes, before they are."""

from __future__ import annotations

_COSTS = ((b"{", 200), (b"[", 96), (b",", 40))
"""Bytes that an object, a list and one more element take in our memory, about."""


class TooDear(ValueError):
    """A text of JSON that would take far more memory than it has bytes: `[],[],[],…` becomes thirty times as large."""


def cost_of(data: bytes) -> int:
    """Bytes of memory, about. Brackets inside of texts count, too: the estimate is rather too high."""
    return len(data) + sum(each * data.count(letter) for letter, each in _COSTS)


def check_cost(data: bytes, most: int) -> None:
    """Raise TooDear for what would take more than `most` bytes."""
    cost = cost_of(data)
    if cost > most:
        raise TooDear(f"{len(data):,} bytes that would take {cost >> 20:,} MB; {most >> 20} are the limit")
