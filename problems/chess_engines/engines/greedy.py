"""Looks one ply ahead: mates if it can, otherwise takes the most, otherwise moves towards the centre."""

import rust_chess

VALUES = (
    (rust_chess.PAWN, 1),
    (rust_chess.KNIGHT, 3),
    (rust_chess.BISHOP, 3),
    (rust_chess.ROOK, 5),
    (rust_chess.QUEEN, 9),
)
CENTRE = 0x0000001818000000


class Engine:
    name = "greedy"

    def select_move(self, position, time_left_ms):
        board = position.board
        board.reset_move_generator()
        return max(board.generate_legal_moves(), key=lambda move: self.value(board, move)).get_uci()

    def value(self, board, move):
        after = board.make_move_new(move, False)
        if after.is_checkmate():
            return 1000
        own = after.get_color_bitboard(board.turn).to_uint()
        all_pieces = after.get_all_bitboard().to_uint()
        material = 0
        for kind, worth in VALUES:
            pieces = after.get_piece_type_bitboard(kind).to_uint()
            material += worth * (2 * (pieces & own).bit_count() - pieces.bit_count())
        return material + (own & CENTRE & all_pieces).bit_count() / 10


engine = Engine()
