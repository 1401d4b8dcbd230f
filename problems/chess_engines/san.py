"""Standard algebraic notation of a move: rust-chess reads it but does not write it."""

from __future__ import annotations

from typing import Any

import rust_chess


def to_san(board: Any, uci: str) -> str:
    """The move in SAN (PGN standard, section 8.2.3), with `+` or `#`. `board` is left as it is.

    Raises:
        ValueError: `uci` is not a legal move of `board`.
    """
    move = rust_chess.Move(uci)
    after = board.make_move_new(move)
    suffix = "#" if after.is_checkmate() else "+" if after.is_check() else ""
    if board.is_castling(move):
        return ("O-O" if uci[2] == "g" else "O-O-O") + suffix
    letter = board.get_piece_on(move.source).piece_type.get_string().upper()
    taking = board.is_capture(move) or board.is_en_passant(move)
    target = uci[2:4]
    if letter == "P":
        promotion = f"={uci[4].upper()}" if len(uci) == 5 else ""
        return (f"{uci[0]}x" if taking else "") + target + promotion + suffix
    return letter + _origin(board, uci, letter) + ("x" if taking else "") + target + suffix


def _origin(board: Any, uci: str, letter: str) -> str:
    """The least of file, rank or square that tells the piece from others of its kind that reach the same square."""
    board.reset_move_generator()
    rivals = []
    for other in board.generate_legal_moves():
        text = other.get_uci()
        elsewhere = text[2:4] == uci[2:4] and text[:2] != uci[:2]
        if elsewhere and board.get_piece_on(other.source).piece_type.get_string().upper() == letter:
            rivals.append(text)
    if not rivals:
        return ""
    if all(rival[0] != uci[0] for rival in rivals):
        return uci[0]
    if all(rival[1] != uci[1] for rival in rivals):
        return uci[1]
    return uci[:2]
