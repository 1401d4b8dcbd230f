"""The opening of a game, move by move: the store keeps its moves alone, and names and positions come from the rules."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from core.arena.match import load_game
from core.arena.openings import opening_parts
from dashboard.server.schemas.arena import OpeningMove

_RULES = {"chess": "problems.chess_engines.game:Chess", "connect_four": "problems.connect_four.game:ConnectFour"}
"""Name of a game → its rules, of those that come along."""


def load_rules() -> None:
    """Load the rules of all games that come along, in the thread that calls, which has to outlive all others.

    rust-chess 0.4.3 keeps storage of the thread that loads it, and ends the process when it is used after that thread.
    """
    for entry in _RULES.values():
        with suppress(ImportError):  # of a game whose library is not installed the moves alone are told
            load_game(entry)


def opening_line(name: str, opening: Sequence[str]) -> tuple[str, list[OpeningMove]]:
    """(the position before the first move, the moves with their names and the positions after them).

    Of a game that is not known here, and where a move is not legal, the moves alone: positions are ''.
    """
    _, moves = opening_parts(opening)
    bare = [OpeningMove(uci=move, san=move, fen="") for move in moves]
    if name not in _RULES:
        return "", bare
    game = load_game(_RULES[name])
    try:
        state = game.initial(opening[: len(opening) - len(moves)])
    except ValueError:
        return "", bare
    origin, line = game.text(state), []
    for move in moves:
        if move not in game.legal(state):
            return "", bare
        san = game.san(state, move)
        state = game.apply(state, move)
        line.append(OpeningMove(uci=move, san=san, fen=game.text(state)))
    return origin, line
