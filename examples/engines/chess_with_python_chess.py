"""A chess engine on python-chess, which candidates may import where it is installed (the extra `chess-engines`).

python main.py arena --problem chess_engines examples/engines/chess_with_python_chess.py stockfish
"""

import chess

WORTH = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9}


class Engine:
    name = "python-chess, one ply"

    def select_move(self, position, time_left_ms):
        board = chess.Board(position.fen)
        return max(board.legal_moves, key=lambda move: self.value(board, move)).uci()

    def value(self, board, move):
        side = board.turn
        board.push(move)
        if board.is_checkmate():
            worth = 1000
        else:
            worth = sum(w * (len(board.pieces(k, side)) - len(board.pieces(k, not side))) for k, w in WORTH.items())
        board.pop()
        return worth


engine = Engine()
