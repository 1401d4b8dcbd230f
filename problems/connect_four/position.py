"""Connect four as an engine sees it. This text also stands in every engine's process: it imports nothing of ours.

Bit `column * 7 + row` is the square in that column (0..6, left to right) and row (0..5, bottom up); the seventh bit of
a column stays empty, so that a line never wraps round. Bitboard technique: John Tromp's `Fhourstones`.
"""


class Position:
    """A position of connect four. Immutable: `apply` returns a new one.

    Attributes:
        stones: (bitboard of the side to move, bitboard of the other side).
        moves: all moves since the empty board, as columns `1`..`7`.
        limit: what a move may cost: `.nodes`, `.depth`, `.milliseconds` (None where it does not apply).
    """

    WIDTH, HEIGHT = 7, 6
    BOARD = sum(0b111111 << 7 * column for column in range(7))
    """All 42 squares."""
    BOTTOM = sum(1 << 7 * column for column in range(7))
    """The lowest square of each column."""

    __slots__ = ("limit", "moves", "stones")

    def __init__(self, stones: tuple[int, int] = (0, 0), moves: tuple[str, ...] = (), limit: object = None) -> None:
        self.stones = stones
        self.moves = moves
        self.limit = limit

    @property
    def to_move(self) -> int:
        """0: the first player (x), 1: the second (o)."""
        return len(self.moves) & 1

    @property
    def legal_moves(self) -> list[str]:
        """Columns that have room, left to right; [] once the game is over."""
        own, other = self.stones
        if self.four(other):
            return []
        filled = own | other
        return [str(column + 1) for column in range(7) if not filled >> 7 * column + 5 & 1]

    def apply(self, move: str) -> "Position":
        """The position after `move`. The column must have room."""
        own, other = self.stones
        filled = own | other
        stone = filled + (1 << 7 * (int(move) - 1)) & ~filled
        return Position((other, own | stone), (*self.moves, str(move)), self.limit)

    @staticmethod
    def four(stones: int) -> bool:
        """True if the bitboard holds four in a row: upright, flat or on a diagonal."""
        for step in (1, 7, 6, 8):
            pairs = stones & stones >> step
            if pairs & pairs >> 2 * step:
                return True
        return False

    @property
    def fen(self) -> str:
        """Rows from the top, `/` between them, digits for runs of empty squares, x and o; then the side to move."""
        own, other = self.stones
        first, second = (own, other) if self.to_move == 0 else (other, own)
        rows = []
        for row in range(5, -1, -1):
            text, empty = "", 0
            for column in range(7):
                bit = 1 << 7 * column + row
                mark = "x" if first & bit else "o" if second & bit else ""
                if mark:
                    text += (str(empty) if empty else "") + mark
                    empty = 0
                else:
                    empty += 1
            rows.append(text + (str(empty) if empty else ""))
        return "/".join(rows) + (" x" if self.to_move == 0 else " o")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self.stones == other.stones and self.moves == other.moves

    def __hash__(self) -> int:
        return hash((self.stones, self.moves))
