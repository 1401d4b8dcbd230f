"""Gauntlet: one ply with captures to the end, and knights, bishops and pawns drawn to the centre."""

import rust_chess

WORTH = {"p": 100, "n": 310, "b": 330, "r": 500, "q": 950, "k": 0}
DRAWN = {"p": 6, "n": 12, "b": 6, "r": 1, "q": 1, "k": -8}
PIECES = [(rust_chess.PAWN, "p"), (rust_chess.KNIGHT, "n"), (rust_chess.BISHOP, "b")]
PIECES += [(rust_chess.ROOK, "r"), (rust_chess.QUEEN, "q"), (rust_chess.KING, "k")]


def closeness(square):
    """0 in a corner, 6 in the centre."""
    rank, file = divmod(square, 8)
    return 6 - int(abs(rank - 3.5) - 0.5) - int(abs(file - 3.5) - 0.5)


TABLES = {name: [WORTH[name] + DRAWN[name] * closeness(square) for square in range(64)] for _, name in PIECES}


class Engine:
    name = "placement 1q"

    def select_move(self, position, time_left_ms):
        board = position.board
        board.reset_move_generator()
        best, alpha = None, -(10**6)
        for move in board.generate_legal_moves():
            after = board.make_move_new(move, False)
            value = 10**5 if after.is_checkmate() else -self.quiesce(after, 4, -(10**6), -alpha)
            if after.is_n_repetition(2):
                value = -15
            if best is None or value > alpha:
                best, alpha = move, max(alpha, value)
        return best.get_uci()

    def quiesce(self, board, depth, alpha, beta):
        value = self.evaluate(board)
        if depth == 0 or value >= beta:
            return value
        alpha = max(alpha, value)
        board.reset_move_generator()
        for move in board.generate_legal_captures():
            alpha = max(alpha, -self.quiesce(board.make_move_new(move, False), depth - 1, -beta, -alpha))
            if alpha >= beta:
                break
        return alpha

    def evaluate(self, board):
        white = board.get_color_bitboard(rust_chess.WHITE).to_uint()
        value = 0
        for kind, name in PIECES:
            pieces, table = board.get_piece_type_bitboard(kind).to_uint(), TABLES[name]
            while pieces:
                bit = pieces & -pieces
                value += table[bit.bit_length() - 1] if bit & white else -table[bit.bit_length() - 1]
                pieces ^= bit
        return value if board.turn == rust_chess.WHITE else -value


engine = Engine()
