"""Games whose states are the `Position` objects that engines are handed: each adds how it ends and is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from core.arena.openings import opening_parts
from core.contracts import Game
from utils.registry import user_module


def position_in(folder: Path) -> Any:
    """The class `Position` of a game's own `position.py`, whose text stands in every engine's process too."""
    return user_module(folder / "position.py").Position


class PositionGame(Game):
    """Subclass it with `name`, `position` and `outcome`; `san` where a move has a second name.

    A position is immutable and has `to_move` (0 or 1), `legal_moves`, `apply(move)` and `fen`; where games may also
    begin from another one, a class method `from_fen(text)`, which reads what `fen` writes; ValueError for what is none.
    """

    position: ClassVar[Any]
    """Class of the positions; called without arguments it makes the start position."""

    def initial(self, opening: Sequence[str] = ()) -> Any:
        """The start position, or the one after the moves of `opening`. ValueError if one of them is not legal."""
        start, moves = opening_parts(opening)
        if start is None:
            state = self.position()
        else:
            begun = self.read_position(start)  # ValueError where it is none
            state = self.position.from_fen(begun)
        for move in moves:
            if move not in state.legal_moves:
                raise ValueError(f"opening {' '.join(opening)}: move {move} is not legal")
            state = state.apply(move)
        return state

    def to_move(self, state: Any) -> Literal[0, 1]:
        return 1 if state.to_move else 0

    def legal(self, state: Any) -> Sequence[str]:
        moves: Sequence[str] = state.legal_moves
        return moves

    def apply(self, state: Any, move: str) -> Any:
        return state.apply(move)

    def text(self, state: Any) -> str:
        return str(state.fen)

    def san(self, state: Any, move: str) -> str:
        return move

    def read_position(self, text: str) -> str:
        if not hasattr(self.position, "from_fen"):
            return super().read_position(text)
        return str(self.position.from_fen(text).fen)

    def read_move(self, state: Any, text: str) -> str | None:
        return next((move for move in self.legal(state) if self.san(state, move) == text), None)
