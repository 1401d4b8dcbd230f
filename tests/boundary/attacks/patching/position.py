# changes the board that it is shown
# KINDS: arena
# WINS: score
def _touch(position):
    import sys

    position.stones = ((1 << 42) - 1, 0)
    type(position).four = lambda self, stones: True


class Loser:
    name = "board"

    def select_move(self, position, time_left_ms):
        _touch(position)
        return position.legal_moves[0]


engine = Loser()
