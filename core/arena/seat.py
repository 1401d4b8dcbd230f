# mypy: ignore-errors
"""The chair an engine sits in: placed, with the game's `Position`, in the engine's process. Imports nothing of ours.

The position stays here between moves; only the moves made since the last call cross the boundary.
"""


class Limit:
    """What a move may cost: `nodes`, `depth` (plies), `milliseconds`; None where it does not apply."""

    def __init__(self, nodes=None, depth=None, milliseconds=None):
        self.nodes = nodes
        self.depth = depth
        self.milliseconds = milliseconds


class Seat:
    """Keeps the position and asks `engine` for a move."""

    def __init__(self):
        self.position = None

    def sit(self, limit):
        """Before the first move: the start position, and a look whether there is an engine."""
        self.position = Position(limit=Limit(**limit))  # noqa: F821  (the game's Position stands above this text)
        return callable(globals()["engine"].select_move)

    def move(self, moves, time_left_ms):
        """Bring the position up to date and return [move, the engine's own score of it or None]."""
        for move in moves:
            self.position = self.position.apply(move)
        player = globals()["engine"]
        move = player.select_move(self.position, time_left_ms)
        score = getattr(player, "score", None)
        return [str(move), score if isinstance(score, (int, float)) and -1e9 < score < 1e9 else None]


seat = Seat()
