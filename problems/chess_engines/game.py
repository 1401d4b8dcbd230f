"""The rules of chess for the referee, on `rust-chess` (MIT)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import rust_chess

from core.arena.position_game import PositionGame
from core.contracts import Outcome
from problems.chess_engines.balance import decided
from problems.chess_engines.opening_names import opening_name
from problems.chess_engines.position import Position
from problems.chess_engines.san import from_san, to_san

_PASSING = re.compile(r"-|[a-h][36]")
_RIGHTS = re.compile(r"-|[KQkqHAha]+")


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

    def read_position(self, text: str) -> str:
        """The first four fields of a FEN or an EPD; what follows is not read: a game counts its moves from 0 and 1."""
        fields = text.split()[:4]
        if len(fields) < 4:
            raise ValueError("a position is four fields: board, side to move, rights to castle, square of en passant")
        board, _, rights, passing = fields
        if not _PASSING.fullmatch(passing):
            raise ValueError(f"its square of en passant is {passing[:12]!r}; allowed are -, a3..h3 and a6..h6")
        ranks = board.split("/")
        if any(pawn in rank for rank in (ranks[0], ranks[-1]) for pawn in "Pp"):
            raise ValueError("a pawn stands on the first or the last rank")
        position = Position.from_fen(" ".join([*fields, "0", "1"]))
        kept = position.fen.split()[2]
        if not _RIGHTS.fullmatch(rights) or len(kept.strip("-")) != len(rights.strip("-")):
            raise ValueError(f"its rights to castle are {rights[:12]!r}, but king and rooks stand for {kept!r}")
        return position.fen

    def read_move(self, state: Position, text: str) -> str | None:
        return from_san(state.board, state.legal_moves, text)

    def san(self, state: Position, move: str) -> str:
        return to_san(state.board, move)
