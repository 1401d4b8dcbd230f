"""Who can force four in a row within a number of plies: an exact search of connect four on bitboards."""

from __future__ import annotations

from problems.connect_four.position import Position

_COLUMNS = tuple(0b111111 << 7 * column for column in (3, 2, 4, 1, 5, 0, 6))
"""Squares of each column, the centre first."""
_Known = dict[tuple[int, int], bool]
"""(stones of the side to move, of the other) → answer. The number of stones tells how many plies are left."""


def forced_result(own: int, other: int, plies: int) -> int:
    """1 if the side to move forces four in a row within `plies` plies, -1 if the other one does, 0 if neither.

    Args:
        own, other: bitboards as in `Position.stones`; nobody has won yet.
        plies: of both sides; 8 cost some milliseconds.
    """
    if _wins(own, other, plies, {}):
        return 1
    return -1 if _loses(own, other, plies, {}) else 0


def _wins(own: int, other: int, plies: int, known: _Known) -> bool:
    """Whether the side to move forces four in a row."""
    moves = _moves(own | other)
    if plies >= 1 and any(Position.four(own | move) for move in moves):
        return True
    if plies < 3:
        return False
    if (own, other) not in known:
        threats = [move for move in moves if Position.four(other | move)]
        tried = moves if not threats else threats if len(threats) == 1 else []
        known[own, other] = any(_loses(other, own | move, plies - 1, known) for move in tried)
    return known[own, other]


def _loses(own: int, other: int, plies: int, known: _Known) -> bool:
    """Whether the side to move cannot keep the other one from four in a row."""
    moves = _moves(own | other)
    if plies < 2 or not moves or any(Position.four(own | move) for move in moves):
        return False
    threats = [move for move in moves if Position.four(other | move)]
    if len(threats) > 1:
        return True
    return all(_wins(other, own | move, plies - 1, known) for move in threats or moves)


def _moves(filled: int) -> list[int]:
    """The lowest free square of each column that has room."""
    free = (filled + Position.BOTTOM & column & ~filled for column in _COLUMNS)
    return [square for square in free if square]
