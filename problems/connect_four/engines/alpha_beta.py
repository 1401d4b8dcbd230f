"""Alpha-beta for connect four that deepens while its limit lasts. The constants say what it looks at and counts.

Bit `column * 7 + row` is a square; `own` is the bitboard of the side to move, `filled` of all stones.
"""

import time

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
TIME_SHARE = 0.04  # share of the clock spent on a move, beside half of the increment

WIN = 100_000
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


def column_of(stone):
    """Column of a single bit."""
    return stone.bit_length() // 7


class Engine:
    name = "alpha-beta"

    def select_move(self, position, time_left_ms):
        played = "".join(position.moves)
        if played in BOOK:
            return BOOK[played]
        own, other = position.stones
        self.start(position.limit, time_left_ms)
        filled = own | other
        self.best, self.score = self.root_moves(own, filled)[0], 0
        try:
            for depth in range(1, min(self.depth, 42 - filled.bit_count()) + 1):
                self.score = self.search_root(own, filled, depth)
                self.tell(depth, self.score)
                if abs(self.score) > WIN - 100 or time.perf_counter() > self.deepen_until:
                    break
        except OutOfBudget:
            pass
        return str(self.best + 1)

    def start(self, limit, time_left_ms):
        self.limit, self.searched = limit, 0
        self.nodes = limit.nodes or 1_000_000_000
        self.depth = limit.depth or 42
        self.stop_at = self.deepen_until = float("inf")
        if limit.milliseconds:
            self.stop_at = time.perf_counter() + 0.0009 * limit.milliseconds
        elif not (limit.nodes or limit.depth):
            seconds = min(time_left_ms * TIME_SHARE + (limit.increment or 0) / 2, time_left_ms / 3) / 1000
            self.stop_at = time.perf_counter() + seconds
            self.deepen_until = self.stop_at - seconds / 2  # a further depth would hardly be finished
        self.table = {}
        self.lines = [[] for _ in range(44)]  # best columns from each ply on

    def tell(self, depth, value):
        self.limit.report(depth, value, self.searched, [str(column + 1) for column in self.lines[0]])

    def count(self):
        """One more node; OutOfBudget where the limit is used up."""
        self.searched += 1
        if self.searched > self.nodes:
            raise OutOfBudget
        if self.searched % 64 == 0 and (self.limit.stopped or time.perf_counter() > self.stop_at):
            raise OutOfBudget

    def root_moves(self, own, filled):
        return [column for column in ORDER if filled + (1 << 7 * column) & COLUMNS[column] & ~filled]

    def search_root(self, own, filled, depth):
        """Value of the position; the best column so far is tried first, and a better one is kept at once."""
        moves = self.root_moves(own, filled)
        moves.sort(key=lambda column: column != self.best)
        self.horizon, alpha = depth, -WIN
        for column in moves:
            stone = filled + (1 << 7 * column) & COLUMNS[column] & ~filled
            if four(own | stone):
                self.best, self.lines[0] = column, [column]
                return WIN - 1
            value = -self.search(own ^ filled, filled | stone, depth - 1, 1, -WIN, -alpha)
            if value > alpha:
                is_other = column != self.best
                self.best, alpha = column, value
                self.lines[0] = [column, *self.lines[1]]
                if is_other:
                    self.tell(depth, value)
        return alpha

    def search(self, own, filled, depth, ply, alpha, beta):  # noqa: C901 - one function is faster
        """Value of the position for the side to move, within alpha..beta."""
        self.count()
        line = self.lines[ply]
        line.clear()
        if filled == BOARD:
            return 0
        open_squares = filled + BOTTOM & BOARD
        if WIN_FIRST and threats(own, filled) & open_squares:
            return WIN - ply - 1
        other = own ^ filled
        moves = open_squares
        if FORCED:
            danger = threats(other, filled) & open_squares
            if danger:
                if danger & danger - 1:
                    return ply + 2 - WIN
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
                line[:] = [column_of(stone)]
                return WIN - ply - 1
            left = depth - 1
            after = filled | stone
            if left == 0 and ply < self.horizon + EXTENSION and threats(child, after) & after + BOTTOM:
                left = 1
            value = -self.search(other, after, left, ply + 1, -beta, -alpha)
            if value > best:
                best = value
                if value > alpha:
                    alpha = value
                    line[:] = [column_of(stone), *self.lines[ply + 1]]
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
