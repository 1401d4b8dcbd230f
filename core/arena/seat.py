"""The chair an engine sits in: placed, with the game's `Position`, in the engine's process. Imports nothing of ours.

The position stays here between moves; only the moves made since the last call cross the boundary.
"""

from typing import Any


class Limit:
    """What a move may cost: `nodes`, `depth` (plies), `milliseconds`; None where it does not apply."""

    def __init__(self, nodes: int | None = None, depth: int | None = None, milliseconds: int | None = None) -> None:
        self.nodes = nodes
        self.depth = depth
        self.milliseconds = milliseconds


class Seat:
    """Keeps the position and asks `engine` for a move."""

    def __init__(self) -> None:
        self.position: Any = None

    def sit(self, limit: dict[str, int | None]) -> bool:
        """Before the first move: the start position, and a look whether there is an engine."""
        self.position = globals()["Position"](limit=Limit(**limit))  # the game's own, it stands above this text
        return callable(globals()["engine"].select_move)

    def move(self, moves: list[str], time_left_ms: int) -> list[Any]:
        """Bring the position up to date and return [move, the engine's own score of it or None]."""
        for made in moves:
            self.position = self.position.apply(made)
        player = globals()["engine"]
        move = player.select_move(self.position, time_left_ms)
        score = getattr(player, "score", None)
        return [str(move), score if isinstance(score, (int, float)) and -1e9 < score < 1e9 else None]


seat = Seat()
