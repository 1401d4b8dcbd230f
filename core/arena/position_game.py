"""Games whose states are the `Position` objects that engines are handed: each adds how it ends and is written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from core.contracts import Game


def position_in(folder: Path) -> Any:
    """The class `Position` of a game's own `position.py`, whose text stands in every engine's process too."""
    path = folder / "position.py"
    names: dict[str, Any] = {"__name__": f"position_of_{folder.name}", "__file__": str(path)}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
    return names["Position"]


class PositionGame(Game):
    """Subclass it with `name`, `position` and `outcome`; `san` where a move has a second name.

    A position is immutable and has `to_move` (0 or 1), `legal_moves`, `apply(move)` and `fen`.
    """

    position: ClassVar[Any]
    """Class of the positions; called without arguments it makes the start position."""

    def initial(self, opening: Sequence[str] = ()) -> Any:
        """The start position, or the one after the moves of `opening`. ValueError if one of them is not legal."""
        state = self.position()
        for move in opening:
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
