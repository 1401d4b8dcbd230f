"""Numbers in files of a user's own: what is none is told with its place and its value."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

FARTHEST = 300
"""Places of a number before or behind its point: a float holds no more, and to count in it takes memory."""
SHOWN = 40
"""Characters of a wrong value that are told."""


def file_number(value: object, what: str) -> Decimal:
    """The number that a file holds; ValueError for what is none, and for nan and infinity.

    Args:
        value: a cell's text, or what JSON gave.
        what: the place and the thing: "line 4: x".
    """
    try:
        found = Decimal(str(value).strip())
    except InvalidOperation:
        found = Decimal("nan")
    if not found.is_finite():
        raise ValueError(f"{what} is {str(value)[:SHOWN]!r}, not a finite number")
    if found and abs(found.adjusted()) > FARTHEST:
        raise ValueError(f"{what} is {str(value)[:SHOWN]!r}: too many places for a number")
    return found


def whole_number(value: object, what: str) -> int:
    """The same for counts; ValueError for what is no whole number of at least 0."""
    found = file_number(value, what)
    if found < 0 or found.adjusted() > 15 or found != found.to_integral_value():
        raise ValueError(f"{what} is {str(value)[:SHOWN]!r}, not a whole number of at least 0")
    return int(found)


def unread(error: Exception) -> str:
    """Why a file could not be read, as a sentence for the user."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is no text in UTF-8 (byte {error.start})"
    if isinstance(error, OSError):
        return f"it cannot be read ({error.strerror})"
    return str(error)
