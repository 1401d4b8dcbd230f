"""The starting champion of chess, written for python-chess in place of rust-chess: the same constants and search,
another order of moves.

python main.py arena --problem chess_engines THIS_FILE problems/chess_engines/engines/alpha_beta.py
    where python-chess is installed (the extra `chess-engines`, or `execution.python=PATH` of an environment with it);
python main.py run --problem chess_engines --initial=THIS_FILE     to search from it.
"""

import time

import chess

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


class OutOfBudget(Exception):
    """The limit of this move is used up."""


def squares(worth, ranks, files):
    """Worth of a white piece on each of the 64 squares."""
    return [worth + ranks[square // 8] + files[square % 8] for square in range(64)]


WHITE = {
    chess.PAWN: squares(MATERIAL[0], PAWN_RANK, PAWN_FILE),
    chess.KNIGHT: squares(MATERIAL[1], KNIGHT_RANK, KNIGHT_FILE),
    chess.BISHOP: squares(MATERIAL[2], BISHOP_RANK, NOTHING),
    chess.ROOK: squares(MATERIAL[3], ROOK_RANK, NOTHING),
    chess.QUEEN: squares(MATERIAL[4], NOTHING, NOTHING),
    chess.KING: squares(0, KING_RANK, KING_FILE),
}
BLACK = {kind: [table[square ^ 56] for square in range(64)] for kind, table in WHITE.items()}


def board_of(position):
    """A board that knows the moves before, so that it sees repetitions; made from the FEN where they are unknown."""
    board = chess.Board()
    try:
        for move in position.moves:
            board.push_uci(move)
    except ValueError:
        pass
    return board if board.board_fen() == position.fen.split()[0] else chess.Board(position.fen)


class Engine:
    name = "alpha-beta, python-chess"

    def select_move(self, position, time_left_ms):
        played = " ".join(position.moves)
        if played in BOOK and BOOK[played] in position.legal_moves:
            return BOOK[played]
        self.board = board_of(position)
        self.start(position.limit, time_left_ms)
        self.best, self.score = self.moves_of(None)[0], 0
        try:
            for depth in range(1, self.depth + 1):
                self.score = self.search_root(depth)
                self.tell(depth, self.score)
                if abs(self.score) > MATE - 1000 or time.perf_counter() > self.deepen_until:
                    break
        except OutOfBudget:
            pass
        return self.best.uci()

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
        self.limit.report(depth, value, self.searched, [move.uci() for move in self.lines[0]])

    def count(self):
        """One more node; OutOfBudget where the limit is used up."""
        self.searched += 1
        if self.searched > self.nodes:
            raise OutOfBudget
        if self.searched % 64 == 0 and (self.limit.stopped or time.perf_counter() > self.stop_at):
            raise OutOfBudget

    def moves_of(self, first):
        """Legal moves, `first` before the others."""
        moves = list(self.board.legal_moves)
        if SORT:
            moves.sort(key=lambda move: -self.victim(move))
        if first is not None and first in moves:
            moves.remove(first)
            moves.insert(0, first)
        return moves

    def victim(self, move):
        """Worth of what the move takes, less a little of what takes it."""
        if move.promotion is not None:
            return 800
        if not self.board.is_capture(move):
            return 0
        taken = self.board.piece_type_at(move.to_square)
        taker = self.board.piece_type_at(move.from_square)
        return MATERIAL[taken - 1] + 11 - taker if taken is not None else 100

    def search_root(self, depth):
        """Value of the position; the best move so far is tried first, and a better one is kept at once."""
        self.horizon, alpha = depth, -MATE
        for move in self.moves_of(self.best):
            self.board.push(move)
            again = REPEAT and self.board.is_repetition(2)
            value = -REPEAT if again else -self.search(depth - 1, 1, -MATE, -alpha)
            self.board.pop()
            if value > alpha:
                is_other = move != self.best
                self.best, alpha = move, value
                self.lines[0] = [move, *([] if again else self.lines[1])]
                if is_other:
                    self.tell(depth, value)
        return alpha

    def search(self, depth, ply, alpha, beta):
        """Value of the position for the side to move, within alpha..beta."""
        self.count()
        line = self.lines[ply]
        line.clear()
        board = self.board
        if not any(board.generate_legal_moves()):
            return ply - MATE if board.is_check() else 0
        if board.is_insufficient_material():
            return 0
        if CHECKS and depth <= 0 and ply < self.horizon + CHECKS and board.is_check():
            depth = 1
        if depth <= 0:
            return self.quiesce(QUIESCE, alpha, beta)
        key = (board.board_fen(), board.turn, board.castling_rights, board.ep_square) if TABLE else None
        for move in self.moves_of(self.table.get(key)):
            board.push(move)
            value = -self.search(depth - 1, ply + 1, -beta, -alpha)
            board.pop()
            if value > alpha:
                alpha = value
                line[:] = [move, *self.lines[ply + 1]]
                if TABLE:
                    self.table[key] = move
                if alpha >= beta:
                    break
        return alpha

    def quiesce(self, depth, alpha, beta):
        """Value when the side to move may also stop taking."""
        value = self.evaluate()
        if depth <= 0 or value >= beta:
            return value
        alpha = max(alpha, value)
        captures = list(self.board.generate_legal_captures())
        if SORT:
            captures.sort(key=lambda move: -self.victim(move))
        for move in captures:
            self.count()
            self.board.push(move)
            alpha = max(alpha, -self.quiesce(depth - 1, -beta, -alpha))
            self.board.pop()
            if alpha >= beta:
                break
        return alpha

    def evaluate(self):
        """Material and piece-square terms, for the side to move."""
        board = self.board
        value = 0
        for kind, table in WHITE.items():
            ours, theirs = board.pieces(kind, chess.WHITE), board.pieces(kind, chess.BLACK)
            if PAIR and kind == chess.BISHOP:
                value += PAIR * ((len(ours) > 1) - (len(theirs) > 1))
            value += sum(table[square] for square in ours)
            value -= sum(BLACK[kind][square] for square in theirs)
        if board.turn != chess.WHITE:
            value = -value
        if MOBILITY:
            value += MOBILITY * board.legal_moves.count()
        return value


engine = Engine()
