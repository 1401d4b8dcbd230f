"""Looks one ply ahead: wins if it can, blocks if it must, and otherwise keeps to the centre."""


class Engine:
    name = "greedy"

    def select_move(self, position, time_left_ms):
        own, other = position.stones
        filled = own | other
        blocking = None
        for move in position.legal_moves:
            column = int(move) - 1
            stone = filled + (1 << 7 * column) & ~filled
            if position.four(own | stone):
                return move
            if position.four(other | stone):
                blocking = move
        return blocking or min(position.legal_moves, key=lambda move: abs(int(move) - 4))


engine = Engine()
