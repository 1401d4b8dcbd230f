"""The rules of connect four for the referee."""

from __future__ import annotations

from core.arena.position_game import PositionGame
from core.contracts import Outcome
from problems.connect_four.position import Position
from problems.connect_four.solver import forced_result

DECIDED_PLIES = 8
"""A win that can be forced within so many plies leaves an opening nothing to tell."""


class ConnectFour(PositionGame):
    """Seven columns, six rows, four in a row wins. A move is a column, `1`..`7`; so is its SAN."""

    name = "connect_four"
    position = Position

    def outcome(self, state: Position) -> tuple[Outcome, str] | None:
        own, other = state.stones
        if Position.four(other):
            return ("1-0" if state.to_move else "0-1"), "four_in_a_row"
        if own | other == Position.BOARD:
            return "1/2-1/2", "board_full"
        return None

    def decided(self, state: Position) -> bool:
        own, other = state.stones
        return forced_result(own, other, DECIDED_PLIES) != 0
