"""Gauntlet: two plies by material and the number of moves. Selection never plays it."""

import rust_chess

VALUES = [(rust_chess.PAWN, 100), (rust_chess.KNIGHT, 320), (rust_chess.BISHOP, 330), (rust_chess.ROOK, 500)]
VALUES += [(rust_chess.QUEEN, 900)]


class Engine:
    name = "mobility 2"

    def select_move(self, position, time_left_ms):
        best, alpha = None, -(10**6)
        for move in self.moves(position.board):
            after = position.board.make_move_new(move, False)
            value = -10 if after.is_n_repetition(2) else -self.search(after, 1, -(10**6), -alpha)
            if best is None or value > alpha:
                best, alpha = move, max(alpha, value)
        return best.get_uci()

    def moves(self, board):
        """Captures first."""
        board.reset_move_generator()
        return [*board.generate_legal_captures(), *board.generate_legal_moves()]

    def search(self, board, depth, alpha, beta):
        moves = self.moves(board)
        if not moves:
            return -(10**5) - depth if board.is_check() else 0
        if depth == 0:
            return self.evaluate(board, len(moves))
        for move in moves:
            alpha = max(alpha, -self.search(board.make_move_new(move, False), depth - 1, -beta, -alpha))
            if alpha >= beta:
                break
        return alpha

    def evaluate(self, board, mobility):
        own = board.get_color_bitboard(board.turn).to_uint()
        value = 3 * mobility
        for kind, worth in VALUES:
            pieces = board.get_piece_type_bitboard(kind).to_uint()
            value += worth * (2 * (pieces & own).bit_count() - pieces.bit_count())
        return value


engine = Engine()
