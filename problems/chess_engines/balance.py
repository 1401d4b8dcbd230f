"""Whether a position is decided already: a mate or a piece that a short search finds."""

from __future__ import annotations

import rust_chess

DECISIVE = 250
"""Centipawns: more than pawns, less than a piece."""
PLIES = 3
"""Looked at in full; captures and answers to checks are followed further, eight plies in all at most."""
MOST_PLIES = 8
MATE = 100_000
WORTH = (
    (rust_chess.PAWN, 100),
    (rust_chess.KNIGHT, 300),
    (rust_chess.BISHOP, 300),
    (rust_chess.ROOK, 500),
    (rust_chess.QUEEN, 900),
)


def decided(board: rust_chess.Board) -> bool:
    """Whether one side wins a piece, or mates, by force."""
    return abs(_search(board, PLIES, 0, -DECISIVE, DECISIVE)) >= DECISIVE


def _search(board: rust_chess.Board, depth: int, ply: int, alpha: int, beta: int) -> int:
    """Material for the side to move after best play, as far as it lies within alpha..beta."""
    checked = board.is_check()
    board.reset_move_generator()
    if depth <= 0 and not (checked and ply < MOST_PLIES):
        return _quiet(board, ply, alpha, beta)
    captures = list(filter(None, board.generate_legal_captures()))
    moves = [*captures, *filter(None, board.generate_legal_moves())]  # the generator goes on with what is left
    if not moves:
        return ply - MATE if checked else 0
    for move in moves:
        value = -_search(board.make_move_new(move, False), depth - 1, ply + 1, -beta, -alpha)
        alpha = max(alpha, value)
        if alpha >= beta:
            break
    return alpha


def _quiet(board: rust_chess.Board, ply: int, alpha: int, beta: int) -> int:
    """The same where the side to move may also stop taking."""
    alpha = max(alpha, _material(board))
    if alpha >= beta or ply >= MOST_PLIES:
        return alpha
    for move in list(filter(None, board.generate_legal_captures())):
        alpha = max(alpha, -_quiet(_after(board, move), ply + 1, -beta, -alpha))
        if alpha >= beta:
            break
    return alpha


def _after(board: rust_chess.Board, move: rust_chess.Move) -> rust_chess.Board:
    after = board.make_move_new(move, False)
    after.reset_move_generator()
    return after


def _material(board: rust_chess.Board) -> int:
    own = board.get_color_bitboard(board.turn).to_uint()
    total = 0
    for kind, worth in WORTH:
        pieces = board.get_piece_type_bitboard(kind).to_uint()
        total += worth * (2 * (pieces & own).bit_count() - pieces.bit_count())
    return total
