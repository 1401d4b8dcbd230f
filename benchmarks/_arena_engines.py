"""The engines of `benchmarks/arena.py`, as text: one program on either board library, in a session or under UCI.

python-chess (GPL) is imported by no process of ours: its engines run on the interpreter that the user names.
"""

from __future__ import annotations

CHOOSE = '''
import zlib

def choose(moves, value, ply):
    """The move of greatest value after one ply; of equals one by lot, the same lot in every way of playing."""
    return max(moves, key=lambda move: (value(move), zlib.crc32(f"{move}{ply}".encode())))
'''

RUST = """
import rust_chess as rc
KINDS = ((rc.PAWN, 1), (rc.KNIGHT, 3), (rc.BISHOP, 3), (rc.ROOK, 5), (rc.QUEEN, 9))

def best(board, ply):
    board.reset_move_generator()
    moves = {move.get_uci(): move for move in board.generate_legal_moves()}
    turn = board.turn
    def value(text):
        after = board.make_move_new(moves[text], False)
        own = after.get_color_bitboard(turn).to_uint()
        total = 0
        for kind, worth in KINDS:
            pieces = after.get_piece_type_bitboard(kind).to_uint()
            total += worth * (2 * (pieces & own).bit_count() - pieces.bit_count())
        return total
    return choose(moves, value, ply)

def board_of(moves):
    board = rc.Board()
    for move in moves:
        board.make_move(rc.Move(move))
    return board
"""

PYTHON_CHESS = """
import chess
KINDS = ((chess.PAWN, 1), (chess.KNIGHT, 3), (chess.BISHOP, 3), (chess.ROOK, 5), (chess.QUEEN, 9))

def best(board, ply):
    turn = board.turn
    def value(text):
        board.push(chess.Move.from_uci(text))
        total = 0
        for kind, worth in KINDS:
            total += worth * (len(board.pieces(kind, turn)) - len(board.pieces(kind, not turn)))
        board.pop()
        return total
    return choose([move.uci() for move in board.legal_moves], value, ply)

def board_of(moves):
    board = chess.Board()
    for move in moves:
        board.push(chess.Move.from_uci(move))
    return board
"""

SESSION = """
class OnePly:
    name = "one ply"
    def select_move(self, position, time_left_ms):
        return best(position.board, len(position.moves))

engine = OnePly()
"""

UCI = """
import sys
for line in sys.stdin:
    words = line.split()
    if words[0] == "uci":
        print("uciok", flush=True)
    elif words[0] == "isready":
        print("readyok", flush=True)
    elif words[0] == "position":
        moves = words[3:]
        board = board_of(moves)
    elif words[0] == "go":
        print("bestmove", best(board, len(moves)), flush=True)
    elif words[0] == "quit":
        break
"""

HANG = "class Hang:\n    name = 'hang'\n    def select_move(self, position, time_left_ms):\n        while True: pass\n"
