"""An engine for connect four that plays another one."""

from __future__ import annotations

from tests.boundary.kinds.kind import STRIKE, Kind

EVALUATOR = '''"""The owner's referee."""
NOTE = "@CANARY@"
import importlib.util
import os

HERE = os.path.dirname(os.path.abspath(__file__))
SCALE = 1.0
TABLE = open(os.path.join(HERE, "private", "labels.csv"))


class Position:
    """The stones as two bitboards, side to move first; the moves so far."""

    def __init__(self, own=0, other=0, moves=()):
        self.stones, self.moves, self.fen = (own, other), list(moves), f"{own} {other}"

    @property
    def legal_moves(self):
        filled = self.stones[0] | self.stones[1]
        return [str(column + 1) for column in range(7) if not filled >> 7 * column + 5 & 1]

    def apply(self, move):
        own, other = self.stones
        filled, column = own | other, int(move) - 1
        return Position(other, own | (filled + (1 << 7 * column) & ~filled & 127 << 7 * column), [*self.moves, move])

    def four(self, stones):
        return any(stones & stones >> s & stones >> 2 * s & stones >> 3 * s for s in (1, 6, 7, 8))


def engine(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.engine


def truth():
    return [0, 1]


def grade(won, played):
    return sum(won) / len(played) + SCALE - 1.0


def evaluate(program_path):
    """Points of two games against the owner's engine, one with each colour, from 0 to 1."""
    won = []
    challenger, owner = engine(program_path, "program"), engine(os.path.join(HERE, "opponent.py"), "opponent")
    for first in truth():
        position, players = Position(), (challenger, owner) if first == 0 else (owner, challenger)
        while True:
            mover = players[len(position.moves) % 2]
            move = mover.select_move(position, 1000)
            if move not in position.legal_moves:
                won.append(0.0 if mover is challenger else 1.0)
                break
            position = position.apply(move)
            if position.four(position.stones[1]):
                won.append(1.0 if mover is challenger else 0.0)
                break
            if not position.legal_moves:
                won.append(0.5)
                break
    return {"combined_score": grade(won, truth())}
'''
OPPONENT = '''"""Wins if it can, blocks if it must, and otherwise keeps to the centre."""


class Opponent:
    name = "owner"

    def select_move(self, position, time_left_ms):
        own, other = position.stones
        filled, blocking = own | other, None
        for move in position.legal_moves:
            column = int(move) - 1
            stone = filled + (1 << 7 * column) & ~filled & 127 << 7 * column
            if position.four(own | stone):
                return move
            if position.four(other | stone):
                blocking = move
        return blocking or min(position.legal_moves, key=lambda move: abs(int(move) - 4))


engine = Opponent()
'''
HONEST = """
class Loser:
    name = "first column"
    def select_move(self, position, time_left_ms):
        _strike()
        return position.legal_moves[0]
engine = Loser()
"""


def _files(labels: list[int], canary: str) -> dict[str, str]:
    return {
        "evaluator.py": EVALUATOR.replace("@CANARY@", canary), "initial_program.py": _program("def strike(): pass"),
        "opponent.py": OPPONENT,
    }  # fmt: skip


def _program(body: str) -> str:
    strike = "" if "def strike(" in body else "\ndef strike(): pass\n"
    own = "" if "\nengine = " in body else HONEST
    return f"{body}\n{strike}{STRIKE}{own}\n_strike()\n"


ARENA = Kind("arena", _files, _program, limit=0.0)
"""An engine that always drops into the first open column loses both games."""
