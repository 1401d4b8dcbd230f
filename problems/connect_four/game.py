"""The rules of connect four for the referee."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from core.contracts import Game, Outcome
from problems.connect_four.position import Position


class ConnectFour(Game):
    """Seven columns, six rows, four in a row wins. A move is a column, `1`..`7`; so is its SAN."""

    name = "connect_four"

    def initial(self, opening: Sequence[str] = ()) -> Position:
        """The empty board, or the position after the moves of `opening`. ValueError if one of them is not legal."""
        state = Position()
        for move in opening:
            if move not in state.legal_moves:
                raise ValueError(f"opening {' '.join(opening)}: move {move} is not legal")
            state = state.apply(move)
        return state

    def to_move(self, state: Position) -> Literal[0, 1]:
        return 1 if state.to_move else 0

    def legal(self, state: Position) -> Sequence[str]:
        return state.legal_moves

    def apply(self, state: Position, move: str) -> Position:
        return state.apply(move)

    def outcome(self, state: Position) -> tuple[Outcome, str] | None:
        own, other = state.stones
        if Position.four(other):
            return ("1-0" if state.to_move else "0-1"), "four_in_a_row"
        if own | other == Position.BOARD:
            return "1/2-1/2", "board_full"
        return None

    def text(self, state: Position) -> str:
        return state.fen

    def san(self, state: Position, move: str) -> str:
        return move
