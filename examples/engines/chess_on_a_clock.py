"""A chess engine that spends its clock: deepens while a fortieth of what is left lasts.

python main.py arena --problem chess_engines THIS_FILE stockfish --arena.limit=clock:10000+100
"""

import time

import rust_chess

WORTH = [(rust_chess.PAWN, 100), (rust_chess.KNIGHT, 310), (rust_chess.BISHOP, 320), (rust_chess.ROOK, 500)]
WORTH += [(rust_chess.QUEEN, 900)]


class TimeIsUp(Exception):
    pass


class Engine:
    name = "on the clock"

    def select_move(self, position, time_left_ms):
        share = 2 if position.limit.milliseconds else 40
        self.stop_at = time.perf_counter() + time_left_ms / 1000 / share
        self.nodes = position.limit.nodes or 10**9
        best = self.moves(position.board)[0]
        try:
            for depth in range(1, (position.limit.depth or 20) + 1):
                best = self.best_at(position.board, depth, best)
        except TimeIsUp:
            pass
        return best.get_uci()

    def moves(self, board):
        board.reset_move_generator()
        return [*board.generate_legal_captures(), *board.generate_legal_moves()]

    def best_at(self, board, depth, first):
        moves = sorted(self.moves(board), key=lambda move: move != first)
        best, alpha = moves[0], -(10**6)
        for move in moves:
            value = -self.search(board.make_move_new(move, False), depth - 1, -(10**6), -alpha)
            if value > alpha:
                best, alpha = move, value
        return best

    def search(self, board, depth, alpha, beta):
        self.nodes -= 1
        if self.nodes < 0 or time.perf_counter() > self.stop_at:
            raise TimeIsUp
        moves = self.moves(board)
        if not moves:
            return -(10**5) - depth if board.is_check() else 0
        if depth == 0:
            return self.evaluate(board)
        for move in moves:
            alpha = max(alpha, -self.search(board.make_move_new(move, False), depth - 1, -beta, -alpha))
            if alpha >= beta:
                break
        return alpha

    def evaluate(self, board):
        own = board.get_color_bitboard(board.turn).to_uint()
        value = 0
        for kind, worth in WORTH:
            pieces = board.get_piece_type_bitboard(kind).to_uint()
            value += worth * (2 * (pieces & own).bit_count() - pieces.bit_count())
        return value


engine = Engine()
