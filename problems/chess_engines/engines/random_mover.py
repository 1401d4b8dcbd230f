"""Plays any legal move: the weakest baseline, and the sparring partner of the smoke match."""

import random


class Engine:
    name = "random"

    def select_move(self, position, time_left_ms):
        return random.choice(position.legal_moves)


engine = Engine()
