"""The rules of chess for the referee, on `rust-chess` (MIT)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import rust_chess

from core.contracts import Game, Outcome
from problems.chess_engines.position import Position
from problems.chess_engines.san import to_san


class Chess(Game):
    """Chess by the rules of FIDE. Moves are UCI. Third repetition and fifty moves end a game without a claim."""

    name = "chess"

    def initial(self, opening: Sequence[str] = ()) -> Position:
        """The start position, or the one after the moves of `opening`. ValueError if one of them is not legal."""
        state = Position()
        for move in opening:
            state = state.apply(move)
        return state

    def to_move(self, state: Position) -> Literal[0, 1]:
        return 1 if state.to_move else 0

    def legal(self, state: Position) -> Sequence[str]:
        return state.legal_moves

    def apply(self, state: Position, move: str) -> Position:
        return state.apply(move)

    def outcome(self, state: Position) -> tuple[Outcome, str] | None:
        board = state.board
        status = board.get_status()
        if status == rust_chess.BoardStatus.CHECKMATE:
            return ("1-0" if state.to_move else "0-1"), "checkmate"
        if status == rust_chess.BoardStatus.STALEMATE:
            return "1/2-1/2", "stalemate"
        if status == rust_chess.BoardStatus.INSUFFICIENT_MATERIAL:
            return "1/2-1/2", "insufficient_material"
        if board.is_fifty_moves():
            return "1/2-1/2", "fifty_moves"
        if board.is_threefold_repetition():
            return "1/2-1/2", "repetition"
        return None

    def text(self, state: Position) -> str:
        """FEN."""
        return state.fen

    def san(self, state: Position, move: str) -> str:
        return to_san(state.board, move)
