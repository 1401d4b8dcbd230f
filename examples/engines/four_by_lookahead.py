"""An engine for connect four in twenty lines: looks three plies ahead and otherwise prefers the centre.

python main.py arena examples/engines/four_by_lookahead.py problems/connect_four/engines/greedy.py
"""


class Engine:
    name = "lookahead 3"

    def select_move(self, position, time_left_ms):
        def worth(move):
            return -self.value(position.apply(move), 2), -abs(int(move) - 4)

        return max(position.legal_moves, key=worth)

    def value(self, position, depth):
        """1, 0 or -1 for the side to move, as far as `depth` plies show."""
        if position.four(position.stones[1]):
            return -1
        moves = position.legal_moves
        if depth == 0 or not moves:
            return 0
        return max(-self.value(position.apply(move), depth - 1) for move in moves)


engine = Engine()
