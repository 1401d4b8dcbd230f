"""ECO code and name of an opening, by the last position of the game that has one.

`openings.tsv` holds lines of up to twelve plies of lichess-org/chess-openings (CC0), commit 51b8862, as UCI moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from core.arena.openings import opening_parts
from problems.chess_engines.position import Position

DEEPEST = 12
"""Plies of the longest line in the table."""


def opening_name(line: Sequence[str]) -> tuple[str, str] | None:
    """(ECO, name) of the game's opening; None where no position of it is in the table.

    Args:
        line: the game's moves; before them the position that they begin from, where that is not the first.
    """
    start, moves = opening_parts(line)
    named, position = _table(), Position() if start is None else Position.from_fen(start)
    found = named.get(_key(position))
    for move in islice(moves, DEEPEST):
        position = position.apply(move)
        found = named.get(_key(position), found)
    return found


@cache
def _table() -> Mapping[str, tuple[str, str]]:
    """Position → (ECO, name). Made once a process, in about a tenth of a second."""
    named: dict[str, tuple[str, str]] = {}
    text = (Path(__file__).parent / "openings.tsv").read_text(encoding="utf-8")
    for line in text.splitlines()[1:]:
        eco, name, moves = line.split("\t")
        position = Position()
        for move in moves.split():
            position = position.apply(move)
        named[_key(position)] = eco, name
    return named


def _key(position: Position) -> str:
    """A position without its move counters."""
    return position.fen.rsplit(" ", 2)[0]
