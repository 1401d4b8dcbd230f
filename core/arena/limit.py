"""What a move may cost, and the clocks that the referee keeps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from utils.config_section import LONGEST_WAIT
from utils.errors import ConfigError

_FORM = re.compile(r"(nodes|depth|movetime):([0-9]{1,18})|(clock):([0-9]{1,18})\+([0-9]{1,18})")
"""No longer than 64 bits hold, which is what an engine is told; of thousands of digits Python reads no number."""
GRACE = 0.05
"""Seconds that a move under `movetime` may overstep before it forfeits: the cost of asking, not of thinking."""


@dataclass(frozen=True, slots=True)
class MoveLimit:
    """The limit of a move, as in `arena.limit`.

    Args:
        kind: `nodes` and `depth` are reproducible: the engine reads them from `position.limit` and is trusted with
            them. `movetime` (milliseconds a move) and `clock` (Fischer) are enforced by the referee.
        value: nodes, plies or milliseconds.
        increment: milliseconds added after each move; only for `clock`.
    """

    kind: Literal["nodes", "depth", "movetime", "clock"]
    value: int
    increment: int = 0

    @classmethod
    def parse(cls, text: str) -> MoveLimit:
        """Read `nodes:N`, `depth:N`, `movetime:MS` or `clock:MS+MS`; ConfigError otherwise."""
        match = _FORM.fullmatch(text.strip())
        value = int((match[2] or match[4]) if match else 0)
        if match is None or value < 1:
            raise ConfigError(f"arena.limit={text!r}: allowed are nodes:N, depth:N, movetime:MS and clock:MS+MS, N ≥ 1")
        most = int(1000 * LONGEST_WAIT)
        if (match[3] or match[1] == "movetime") and max(value, int(match[5] or 0)) > most:
            raise ConfigError(f"arena.limit={text!r}: at most {most} milliseconds are waited for")
        if match[3]:
            return cls("clock", value, int(match[5]))
        return cls("nodes" if match[1] == "nodes" else "depth" if match[1] == "depth" else "movetime", value)

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}" + (f"+{self.increment}" if self.kind == "clock" else "")

    def longest_game(self, plies: int, deadline: float) -> float:
        """Seconds that two players may take for `plies` moves, both together, before one of them has lost by time.

        Args:
            deadline: as for `Clocks`.
        """
        if self.kind == "clock":
            return (2 * self.value + plies * self.increment) / 1000
        return plies * (self.value / 1000 + GRACE if self.kind == "movetime" else deadline)

    def for_engine(self) -> dict[str, int | None]:
        """What `position.limit` shows: nodes, depth, milliseconds a move, milliseconds that a move adds."""
        milliseconds = self.value if self.kind == "movetime" else None
        nodes = self.value if self.kind == "nodes" else None
        depth = self.value if self.kind == "depth" else None
        increment = self.increment if self.kind == "clock" else None
        return {"nodes": nodes, "depth": depth, "milliseconds": milliseconds, "increment": increment}


class Clocks:
    """Both sides' time. All times in seconds unless the name says otherwise.

    Args:
        limit: the move limit.
        deadline: seconds after which a move under `nodes` or `depth` counts as a hang.
    """

    def __init__(self, limit: MoveLimit, deadline: float) -> None:
        self.limit = limit
        self.deadline = deadline
        self._left = [limit.value / 1000, limit.value / 1000]

    def allowance(self, side: int) -> float:
        """Seconds until the coming move of `side` is cut off."""
        if self.limit.kind == "clock":
            return max(min(self._left[side], LONGEST_WAIT), 0.001)
        return self.limit.value / 1000 + GRACE if self.limit.kind == "movetime" else self.deadline

    def left_ms(self, side: int) -> int:
        """What the engine is told: milliseconds left for the game (`clock`) or for this move."""
        if self.limit.kind == "clock":
            return max(1, int(self._left[side] * 1000))
        return self.limit.value if self.limit.kind == "movetime" else int(self.deadline * 1000)

    def press(self, side: int, seconds: float) -> bool:
        """Book a move that took `seconds`; False if the side has overstepped."""
        if seconds > self.allowance(side):
            if self.limit.kind == "clock":
                self._left[side] = 0.0
            return False
        if self.limit.kind == "clock":
            self._left[side] += self.limit.increment / 1000 - seconds
        return True

    def reading(self) -> tuple[float | None, float | None]:
        """(first player, second player) seconds left; (None, None) without clocks."""
        if self.limit.kind != "clock":
            return None, None
        return round(self._left[0], 3), round(self._left[1], 3)
