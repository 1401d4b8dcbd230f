"""Gauntlet: alpha-beta three plies deep that counts the open lines of four of each side. Selection never plays it."""

LINES = []
for column in range(7):
    for row in range(6):
        for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
            if 0 <= column + 3 * right < 7 and 0 <= row + 3 * up < 6:
                LINES.append(sum(1 << 7 * (column + i * right) + row + i * up for i in range(4)))
WORTH = (0, 1, 4, 16, 1000)


class Engine:
    name = "line counter 3"

    def select_move(self, position, time_left_ms):
        moves = sorted(position.legal_moves, key=lambda move: abs(int(move) - 4))
        best, alpha = moves[0], -(10**6)
        for move in moves:
            value = -self.search(position.apply(move), 2, -(10**6), -alpha)
            if value > alpha:
                best, alpha = move, value
        return best

    def search(self, position, depth, alpha, beta):
        own, other = position.stones
        if position.four(other):
            return -100_000 - depth
        moves = position.legal_moves
        if not moves:
            return 0
        if depth == 0:
            return self.evaluate(own, other)
        for move in sorted(moves, key=lambda move: abs(int(move) - 4)):
            alpha = max(alpha, -self.search(position.apply(move), depth - 1, -beta, -alpha))
            if alpha >= beta:
                break
        return alpha

    def evaluate(self, own, other):
        value = 0
        for line in LINES:
            mine, yours = own & line, other & line
            if mine and not yours:
                value += WORTH[mine.bit_count()]
            elif yours and not mine:
                value -= WORTH[yours.bit_count()]
        return value


engine = Engine()
