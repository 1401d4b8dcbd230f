"""The chair an engine sits in: placed, with the game's `Position`, in the engine's process. Imports nothing of ours.

The position stays here between moves; only the moves made since the last call cross the boundary.
"""

from typing import Any


class Limit:
    """What a move may cost, and where the engine tells how far it has come.

    Attributes:
        nodes, depth (plies), milliseconds (for this move), increment (milliseconds that each move adds to the clock):
            None where it does not apply.
        stopped: True once the move is wanted at once.
        told: (depth, score, nodes, line) of the last report, or None.
    """

    def __init__(
        self,
        nodes: int | None = None,
        depth: int | None = None,
        milliseconds: int | None = None,
        increment: int | None = None,
    ) -> None:
        self.nodes = nodes
        self.depth = depth
        self.milliseconds = milliseconds
        self.increment = increment
        self.stopped = False
        self.told: tuple[int, float, int, tuple[str, ...] | list[str]] | None = None

    def report(self, depth: int, score: float, nodes: int, line: tuple[str, ...] | list[str] = ()) -> None:
        """Tell the result of a finished depth; people watch it, nobody is judged by it.

        Args:
            score: for the side to move, in hundredths of a pawn; a forced win is 100,000 less the plies to it.
            nodes: searched for this move so far.
            line: the best moves, the one to play first.
        """
        self.told = depth, score, nodes, line


class Seat:
    """Keeps the position and asks `engine` for a move."""

    def __init__(self) -> None:
        self.position: Any = None

    def sit(self, limit: dict[str, int | None]) -> bool:
        """Before the first move: the start position, and a look whether there is an engine."""
        self.position = globals()["Position"](limit=Limit(**limit))  # the game's own, it stands above this text
        return callable(globals()["engine"].select_move)

    def move(self, moves: list[str], time_left_ms: int) -> list[Any]:
        """Bring the position up to date and return [move, the engine's own score of it or None, depth or None]."""
        for made in moves:
            self.position = self.begun(made[4:]) if made.startswith("fen ") else self.position.apply(made)
        limit, player = self.position.limit, globals()["engine"]
        limit.told = None
        move = player.select_move(self.position, time_left_ms)
        depth, score = limit.told[:2] if limit.told else (None, getattr(player, "score", None))
        return [str(move), _number(score), _number(depth)]

    def begun(self, text: str) -> Any:
        """The position of a book that the game begins from."""
        position = globals()["Position"].from_fen(text)
        object.__setattr__(position, "limit", self.position.limit)  # it is immutable, and may see to that itself
        return position


def _number(value: Any) -> float | None:
    """What the engine calls a number, if it is one."""
    return value if isinstance(value, (int, float)) and -1e9 < value < 1e9 else None


seat = Seat()
