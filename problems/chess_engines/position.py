"""Chess as an engine sees it. This text is also placed in every engine's process, so it imports nothing of ours."""

import rust_chess


class Position:
    """A position of chess. Immutable: `apply` returns a new one.

    Attributes:
        board: the `rust_chess.Board`. Treat it as read-only (`make_move_new` leaves it as it is).
        moves: all moves since the start position, in UCI notation.
        limit: what a move may cost: `.nodes`, `.depth`, `.milliseconds` (None where it does not apply).
    """

    __slots__ = ("board", "limit", "moves")

    def __init__(
        self, board: rust_chess.Board | None = None, moves: tuple[str, ...] = (), limit: object = None
    ) -> None:
        self.board = rust_chess.Board() if board is None else board
        self.moves = moves
        self.limit = limit

    @classmethod
    def from_fen(cls, fen: str) -> "Position":
        """The position of a FEN; ValueError if it is not one. Repetitions are seen from there on where the halfmove
        clock is 0, else none: the moves before are unknown.

        Without counters (four fields, as many programs write it) they are 0 and 1. Rights to castle that king and rook
        have no more are none, and `HAha` are `KQkq`.

        rust-chess 0.4.3 aborts the process when it looks for repetitions further back than it has moves, and counts
        moves in a byte: move 256 is its move 0.
        """
        fields = fen.split()
        fields += ["0", "1"][len(fields) - 4 :] if len(fields) in (4, 5) else []
        if len(fields) == 6 and fields[4].isdecimal() and fields[5].isdecimal():
            counters = [str(min(int(fields[4]), 150)), str(int(fields[5]) % 256)]
            fields[2:] = [cls._castling(fields[0], fields[2]), fields[3], *counters]
        seen = rust_chess.RepetitionDetectionMode
        return cls(rust_chess.Board(" ".join(fields), seen.FULL if fields[4:5] == ["0"] else seen.NONE))

    @staticmethod
    def _castling(board: str, rights: str) -> str:
        """Those of the rights in a FEN that its board allows. ValueError for what is no board of 8 × 8 squares."""
        ranks = ["".join("." * int(mark) if mark.isdecimal() else mark for mark in rank) for rank in board.split("/")]
        if [len(rank) for rank in ranks] != [8] * 8:
            raise ValueError("Invalid FEN: its board is not 8 × 8 squares")
        homes = {"K": ("H", ranks[-1], 7), "Q": ("A", ranks[-1], 0), "k": ("h", ranks[0], 7), "q": ("a", ranks[0], 0)}
        found = ""
        for right, (also, rank, rook) in homes.items():
            king, tower = ("K", "R") if right.isupper() else ("k", "r")
            if (right in rights or also in rights) and (rank[4], rank[rook]) == (king, tower):
                found += right
        return found or "-"

    @property
    def to_move(self) -> int:
        """0: white, 1: black."""
        return 0 if self.board.turn == rust_chess.WHITE else 1

    @property
    def legal_moves(self) -> list[str]:
        """Legal moves in UCI notation, in a fixed order."""
        self.board.reset_move_generator()
        found = self.board.generate_legal_moves()
        return [move.get_uci() for move in found]  # type: ignore[union-attr]  # the stub allows None; nothing yields it

    def apply(self, move: str) -> "Position":
        """The position after `move`; ValueError if it is not legal."""
        return Position(self.board.make_move_new(rust_chess.Move(move)), (*self.moves, move), self.limit)

    @property
    def fen(self) -> str:
        """Forsyth-Edwards notation; the en passant square only where a pawn stands to take (as rust_chess keeps it)."""
        fields = self.board.get_fen().split(" ")
        # rust_chess writes the square of the pawn that may be taken; the standard wants the square behind it.
        if fields[3] != "-":
            fields[3] = str(self.board.en_passant)
        return " ".join(fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self.moves == other.moves and self.fen == other.fen

    def __hash__(self) -> int:
        return hash((self.moves, self.board.zobrist_hash))
