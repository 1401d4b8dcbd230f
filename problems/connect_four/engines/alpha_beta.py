"""Alpha-beta for connect four. The constants say how deep it looks and what it counts.

Bit `column * 7 + row` is a square; `own` is the bitboard of the side to move, `filled` of all stones.
"""

import time

DEPTH = 2  # plies looked ahead, deepened one by one within position.limit
EXTENSION = 0  # further plies along moves that threaten to win at once
WIN_FIRST = False  # see a win in one before searching a position
FORCED = False  # answer a threat at once, and give up before two
SORT = False  # try moves that make more threats first
TABLE = False  # remember positions of this move's search
ORDER = (0, 1, 2, 3, 4, 5, 6)  # columns in the order in which they are tried
COLUMN = (0, 1, 2, 3, 2, 1, 0)  # worth of a stone in each column
THREAT = 0  # worth of an empty square that would complete four
PARITY = 0  # further worth of a threat on a row that suits its side: odd rows the first player, even rows the second
BOOK = {}  # moves so far -> reply
TIME_SHARE = 0.04  # share of the clock spent on a move

WIN = 10_000
BOTTOM = sum(1 << 7 * column for column in range(7))
COLUMNS = [0b111111 << 7 * column for column in range(7)]
BOARD = sum(COLUMNS)
ODD_ROWS = BOTTOM | BOTTOM << 2 | BOTTOM << 4


class OutOfBudget(Exception):
    """The limit of this move is used up."""


def four(stones):
    """True if the bitboard holds four in a row."""
    for step in (1, 7, 6, 8):
        pairs = stones & stones >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


def threats(stones, filled):
    """Empty squares that would complete four for `stones`."""
    found = stones << 1 & stones << 2 & stones << 3
    for step in (7, 6, 8):
        pairs = stones << step & stones << 2 * step
        found |= pairs & stones << 3 * step
        found |= pairs & stones >> step
        pairs = stones >> step & stones >> 2 * step
        found |= pairs & stones << step
        found |= pairs & stones >> 3 * step
    return found & (BOARD & ~filled)


class Engine:
    name = "alpha-beta"

    def select_move(self, position, time_left_ms):
        played = "".join(position.moves)
        if played in BOOK:
            return BOOK[played]
        own, other = position.stones
        self.start(position.limit, time_left_ms)
        best = self.root_moves(own, own | other)[0]
        try:
            for depth in range(1, self.depth + 1):
                best, value = self.search_root(own, own | other, depth, best)
                self.score = value
                if abs(value) > WIN - 100:
                    break
        except OutOfBudget:
            pass
        return str(best + 1)

    def start(self, limit, time_left_ms):
        self.nodes = limit.nodes or 1_000_000_000
        self.depth = min(DEPTH, limit.depth or DEPTH)
        share = 0.7 if limit.milliseconds else TIME_SHARE
        timed = not (limit.nodes or limit.depth)
        self.stop_at = time.perf_counter() + time_left_ms / 1000 * share if timed else None
        self.table = {}

    def root_moves(self, own, filled):
        return [column for column in ORDER if filled + (1 << 7 * column) & COLUMNS[column] & ~filled]

    def search_root(self, own, filled, depth, first):
        """The best column and its value; `first` is tried first."""
        moves = self.root_moves(own, filled)
        moves.sort(key=lambda column: column != first)
        best, alpha = moves[0], -WIN
        for column in moves:
            stone = filled + (1 << 7 * column) & COLUMNS[column] & ~filled
            if four(own | stone):
                return column, WIN
            value = -self.search(own ^ filled, filled | stone, depth - 1, 1, -WIN, -alpha)
            if value > alpha:
                best, alpha = column, value
        return best, alpha

    def search(self, own, filled, depth, ply, alpha, beta):  # noqa: C901 - one function is faster
        """Value of the position for the side to move, within alpha..beta."""
        self.nodes -= 1
        if self.nodes < 0 or (self.stop_at and self.nodes % 64 == 0 and time.perf_counter() > self.stop_at):
            raise OutOfBudget
        if filled == BOARD:
            return 0
        open_squares = filled + BOTTOM & BOARD
        if WIN_FIRST and threats(own, filled) & open_squares:
            return WIN - ply
        other = own ^ filled
        moves = open_squares
        if FORCED:
            danger = threats(other, filled) & open_squares
            if danger:
                if danger & danger - 1:
                    return ply + 1 - WIN
                moves = danger
        if depth <= 0:
            return self.evaluate(own, other, filled)
        key = (own, filled)
        known = self.table.get(key) if TABLE else None
        if known and known[0] >= depth:
            low, high = known[1], known[2]
            if low >= beta or low == high:
                return low
            if high <= alpha:
                return high
        squares = [moves & COLUMNS[column] for column in ORDER if moves & COLUMNS[column]]
        if SORT:
            squares.sort(key=lambda stone: -threats(own | stone, filled | stone).bit_count())
        best, floor = -WIN, alpha
        for stone in squares:
            child = own | stone
            if four(child):
                return WIN - ply
            left = depth - 1
            if left == 0 and ply < DEPTH + EXTENSION and threats(child, filled | stone) & (filled | stone) + BOTTOM:
                left = 1
            value = -self.search(other, filled | stone, left, ply + 1, -beta, -alpha)
            if value > best:
                best = value
                alpha = max(alpha, value)
                if alpha >= beta:
                    break
        if TABLE:
            low = -WIN if best <= floor else best
            high = WIN if best >= beta else best
            self.table[key] = (depth, low, high)
        return best

    def evaluate(self, own, other, filled):
        value = 0
        for column, worth in enumerate(COLUMN):
            if worth:
                mask = COLUMNS[column]
                value += worth * ((own & mask).bit_count() - (other & mask).bit_count())
        if THREAT or PARITY:
            mine, yours = threats(own, filled), threats(other, filled)
            value += THREAT * (mine.bit_count() - yours.bit_count())
            if PARITY:
                first_to_move = filled.bit_count() % 2 == 0
                good = ODD_ROWS if first_to_move else BOARD & ~ODD_ROWS
                value += PARITY * ((mine & good).bit_count() - (yours & ~good).bit_count())
        return value


engine = Engine()
