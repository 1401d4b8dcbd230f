"""Alpha-beta for chess that deepens while its limit lasts. The constants say what it looks at and what it counts."""

import time

import rust_chess

QUIESCE = 0  # further plies along captures
CHECKS = 0  # further plies where the side to move is in check
SORT = False  # try captures first, the best victim before the others
TABLE = False  # remember the best move of each position of this move's search
MATERIAL = (100, 300, 300, 500, 900)  # worth of pawn, knight, bishop, rook, queen
PAWN_RANK = (0, 0, 0, 0, 0, 0, 0, 0)  # piece-square terms, ranks from the own side
PAWN_FILE = (0, 0, 0, 0, 0, 0, 0, 0)
KNIGHT_RANK = (0, 0, 0, 0, 0, 0, 0, 0)
KNIGHT_FILE = (0, 0, 0, 0, 0, 0, 0, 0)
BISHOP_RANK = (0, 0, 0, 0, 0, 0, 0, 0)
ROOK_RANK = (0, 0, 0, 0, 0, 0, 0, 0)
KING_RANK = (0, 0, 0, 0, 0, 0, 0, 0)
KING_FILE = (0, 0, 0, 0, 0, 0, 0, 0)
MOBILITY = 0  # worth of a legal move
PAIR = 0  # worth of both bishops
REPEAT = 0  # dislike of a position that was on the board before
BOOK = {}  # moves so far -> reply
TIME_SHARE = 0.03  # share of the clock spent on a move, beside half of the increment

MATE = 100_000
DEEPEST = 64
NOTHING = (0,) * 8
KINDS = (rust_chess.PAWN, rust_chess.KNIGHT, rust_chess.BISHOP, rust_chess.ROOK, rust_chess.QUEEN, rust_chess.KING)


class OutOfBudget(Exception):
    """The limit of this move is used up."""


def squares(worth, ranks, files):
    """Worth of a white piece on each of the 64 squares."""
    return [worth + ranks[square // 8] + files[square % 8] for square in range(64)]


WHITE = [
    squares(MATERIAL[0], PAWN_RANK, PAWN_FILE),
    squares(MATERIAL[1], KNIGHT_RANK, KNIGHT_FILE),
    squares(MATERIAL[2], BISHOP_RANK, NOTHING),
    squares(MATERIAL[3], ROOK_RANK, NOTHING),
    squares(MATERIAL[4], NOTHING, NOTHING),
    squares(0, KING_RANK, KING_FILE),
]
BLACK = [[table[square ^ 56] for square in range(64)] for table in WHITE]


class Engine:
    name = "alpha-beta"

    def select_move(self, position, time_left_ms):
        played = " ".join(position.moves)
        if played in BOOK and BOOK[played] in position.legal_moves:
            return BOOK[played]
        board = position.board
        self.start(position.limit, time_left_ms)
        self.best, self.score = self.moves_of(board, None)[0], 0
        try:
            for depth in range(1, self.depth + 1):
                self.score = self.search_root(board, depth)
                self.tell(depth, self.score)
                if abs(self.score) > MATE - 1000 or time.perf_counter() > self.deepen_until:
                    break
        except OutOfBudget:
            pass
        return self.best.get_uci()

    def start(self, limit, time_left_ms):
        self.limit, self.searched = limit, 0
        self.nodes = limit.nodes or 1_000_000_000
        self.depth = min(limit.depth or DEEPEST, DEEPEST)
        self.stop_at = self.deepen_until = float("inf")
        if limit.milliseconds:
            self.stop_at = time.perf_counter() + 0.0009 * limit.milliseconds
        elif not (limit.nodes or limit.depth):
            seconds = min(time_left_ms * TIME_SHARE + (limit.increment or 0) / 2, time_left_ms / 3) / 1000
            self.stop_at = time.perf_counter() + seconds
            self.deepen_until = self.stop_at - seconds / 2  # a further depth would hardly be finished
        self.table = {}
        self.lines = [[] for _ in range(2 * DEEPEST)]  # best moves from each ply on

    def tell(self, depth, value):
        self.limit.report(depth, value, self.searched, [move.get_uci() for move in self.lines[0]])

    def count(self):
        """One more node; OutOfBudget where the limit is used up."""
        self.searched += 1
        if self.searched > self.nodes:
            raise OutOfBudget
        if self.searched % 64 == 0 and (self.limit.stopped or time.perf_counter() > self.stop_at):
            raise OutOfBudget

    def moves_of(self, board, first):
        """Legal moves, `first` before the others."""
        board.reset_move_generator()
        moves = list(board.generate_legal_moves())
        if SORT:
            moves.sort(key=lambda move: -self.victim(board, move))
        if first is not None and first in moves:
            moves.remove(first)
            moves.insert(0, first)
        return moves

    def victim(self, board, move):
        """Worth of what the move takes, less a little of what takes it."""
        if move.promotion is not None:
            return 800
        if not board.is_capture(move):
            return 0
        taken = board.get_piece_type_on(move.dest)
        taker = KINDS.index(board.get_piece_type_on(move.source))
        return MATERIAL[KINDS.index(taken)] + 10 - taker if taken is not None else 100

    def search_root(self, board, depth):
        """Value of the position; the best move so far is tried first, and a better one is kept at once."""
        self.horizon, alpha = depth, -MATE
        for move in self.moves_of(board, self.best):
            after = board.make_move_new(move, False)
            again = REPEAT and after.is_n_repetition(2)
            value = -REPEAT if again else -self.search(after, depth - 1, 1, -MATE, -alpha)
            if value > alpha:
                is_other = move != self.best
                self.best, alpha = move, value
                self.lines[0] = [move, *([] if again else self.lines[1])]
                if is_other:
                    self.tell(depth, value)
        return alpha

    def search(self, board, depth, ply, alpha, beta):
        """Value of the position for the side to move, within alpha..beta."""
        self.count()
        line = self.lines[ply]
        line.clear()
        status = board.get_status()
        if status != rust_chess.BoardStatus.ONGOING:
            return ply - MATE if status == rust_chess.BoardStatus.CHECKMATE else 0
        if CHECKS and depth <= 0 and ply < self.horizon + CHECKS and board.is_check():
            depth = 1
        if depth <= 0:
            return self.quiesce(board, QUIESCE, alpha, beta)
        key = board.zobrist_hash if TABLE else 0
        for move in self.moves_of(board, self.table.get(key)):
            value = -self.search(board.make_move_new(move, False), depth - 1, ply + 1, -beta, -alpha)
            if value > alpha:
                alpha = value
                line[:] = [move, *self.lines[ply + 1]]
                if TABLE:
                    self.table[key] = move
                if alpha >= beta:
                    break
        return alpha

    def quiesce(self, board, depth, alpha, beta):
        """Value when the side to move may also stop taking."""
        value = self.evaluate(board)
        if depth <= 0 or value >= beta:
            return value
        alpha = max(alpha, value)
        board.reset_move_generator()
        captures = list(board.generate_legal_captures())
        if SORT:
            captures.sort(key=lambda move: -self.victim(board, move))
        for move in captures:
            self.count()
            alpha = max(alpha, -self.quiesce(board.make_move_new(move, False), depth - 1, -beta, -alpha))
            if alpha >= beta:
                break
        return alpha

    def evaluate(self, board):
        """Material and piece-square terms, for the side to move."""
        white = board.get_color_bitboard(rust_chess.WHITE).to_uint()
        value = 0
        for kind, piece in enumerate(KINDS):
            pieces = board.get_piece_type_bitboard(piece).to_uint()
            ours, theirs = pieces & white, pieces & ~white
            table = WHITE[kind]
            if PAIR and kind == 2:
                value += PAIR * ((ours.bit_count() > 1) - (theirs.bit_count() > 1))
            while ours:
                value += table[(ours & -ours).bit_length() - 1]
                ours &= ours - 1
            table = BLACK[kind]
            while theirs:
                value -= table[(theirs & -theirs).bit_length() - 1]
                theirs &= theirs - 1
        if board.turn != rust_chess.WHITE:
            value = -value
        if MOBILITY:
            board.reset_move_generator()
            value += MOBILITY * board.get_generator_num_remaining()
        return value


engine = Engine()
