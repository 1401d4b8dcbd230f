"""Standard algebraic notation of a move: rust-chess does not write it, and reads a dialect of its own alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

import rust_chess

_SAN = re.compile(r"([KQRBN]?)([a-h]?)([1-8]?)[x:-]?([a-h][1-8])=?([QRBN]?)(?: ?e\.p\.)?", re.ASCII)
_CASTLING = {"O-O": ("e1g1", "e8g8"), "O-O-O": ("e1c1", "e8c8")}


def to_san(board: rust_chess.Board, uci: str) -> str:
    """The move in SAN (PGN standard, section 8.2.3), with `+` or `#`. `board` is left as it is.

    Raises:
        ValueError: `uci` is not a legal move of `board`.
    """
    move = rust_chess.Move(uci)
    after = board.make_move_new(move)
    suffix = "#" if after.is_checkmate() else "+" if after.is_check() else ""
    if board.is_castling(move):
        return ("O-O" if uci[2] == "g" else "O-O-O") + suffix
    letter = _letter(board, move.source)
    taking = board.is_capture(move) or board.is_en_passant(move)
    target = uci[2:4]
    if letter == "P":
        promotion = f"={uci[4].upper()}" if len(uci) == 5 else ""
        return (f"{uci[0]}x" if taking else "") + target + promotion + suffix
    return letter + _origin(board, uci, letter) + ("x" if taking else "") + target + suffix


def from_san(board: rust_chess.Board, legal: Sequence[str], text: str) -> str | None:
    """The one legal move that `text` means; None where there is none, or more than one.

    Signs for check and for the move's worth are not read, and more of the origin than is needed may be told.

    Args:
        legal: legal moves of `board` in UCI notation.
    """
    bare = text.rstrip("+#!?")
    if (castled := _CASTLING.get(bare.replace("0", "O").replace("o", "O"))) is not None:
        found = [move for move in legal if move in castled and board.is_castling(rust_chess.Move(move))]
    elif (said := _SAN.fullmatch(bare)) is not None:
        letter, file, rank, target, promoted = said.groups()
        found = [
            move
            for move in legal
            if move[2:] == target + promoted.lower()
            and move[0].startswith(file)
            and move[1].startswith(rank)
            and _letter(board, rust_chess.Move(move).source) == (letter or "P")
        ]
    else:
        found = []
    return found[0] if len(found) == 1 else None


def _letter(board: rust_chess.Board, square: rust_chess.Square) -> str:
    """P, N, B, R, Q or K; '' for an empty square."""
    kind = board.get_piece_type_on(square)
    return kind.get_string().upper() if kind is not None else ""


def _origin(board: rust_chess.Board, uci: str, letter: str) -> str:
    """The least of file, rank or square that tells the piece from others of its kind that reach the same square."""
    board.reset_move_generator()
    rivals = []
    for other in filter(None, board.generate_legal_moves()):
        text = other.get_uci()
        if text[2:4] == uci[2:4] and text[:2] != uci[:2] and _letter(board, other.source) == letter:
            rivals.append(text)
    if not rivals:
        return ""
    if all(rival[0] != uci[0] for rival in rivals):
        return uci[0]
    if all(rival[1] != uci[1] for rival in rivals):
        return uci[1]
    return uci[:2]
