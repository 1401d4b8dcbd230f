"""What `arena` tells of the engines beside their standings."""

from __future__ import annotations

from cli.arena import _Narrator
from core.arena.match import Engine
from core.events import GameFinished, GameMove, GameStarted


class Again:
    """The second player moves twice."""

    def initial(self, opening=()):
        return 0

    def to_move(self, state):
        return (0, 1, 1)[state % 3]

    def apply(self, state, move):
        return state + 1


def test_each_engine_has_the_seconds_of_its_own_moves():
    """In a game where a player moves twice they went to the other one, and with them the warning of uneven effort."""
    book = _Narrator([Engine(id="a", name="slow"), Engine(id="b", name="quick")], Again(), quiet=True)
    told = {"game_id": "1", "game": "again", "white": "a", "black": "b"}
    book.watch([GameStarted(**told, opening=[], start="")])
    moves = [GameMove(game_id="1", ply=i + 1, uci="x", san="x", fen="", seconds=s) for i, s in enumerate([5, 1, 1, 5])]
    book.put("k", {"message": ""}, [*moves, GameFinished(**told, result="1-0", termination="end", plies=4, pgn="")])
    assert book.seconds == {"slow": [5, 5], "quick": [1, 1]}
