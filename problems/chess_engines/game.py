"""The rules of chess for the referee, on `rust-chess` (MIT)."""

from __future__ import annotations

from collections.abc import Sequence

import rust_chess

from core.arena.position_game import PositionGame
from core.contracts import Outcome
from problems.chess_engines.balance import decided
from problems.chess_engines.opening_names import opening_name
from problems.chess_engines.position import Position
from problems.chess_engines.san import to_san


class Chess(PositionGame):
    """Chess by the rules of FIDE. Moves are UCI. Third repetition and fifty moves end a game without a claim."""

    name = "chess"
    position = Position

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

    def decided(self, state: Position) -> bool:
        return decided(state.board)

    def opening_name(self, moves: Sequence[str]) -> tuple[str, str] | None:
        return opening_name(moves)

    def san(self, state: Position, move: str) -> str:
        return to_san(state.board, move)
