"""Who can sit at the board: an engine behind a sandboxed session. (UCI programs: `uci.py`.)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from core.arena.limit import MoveLimit
from core.contracts import ExecutionResult, Limits, Sandbox, SessionFailure
from core.state.failure import FailureKind
from utils.errors import JobLost

LOAD_SECONDS = 10.0
"""An engine may take so long to load; it is not on its clock then."""
ANSWER_KB = 64
"""A move, a score and a depth: what one answer of an engine may take."""
WON = 100_000.0
"""An engine's score of a won game, from which the plies to it are taken off (`core.arena.seat.Limit.report`)."""
MOST_DEPTH = 1000
"""Plies; a depth beyond is nonsense and not kept."""
MOST_SCORE = 1e9
"""A score beyond is nonsense and not kept; an integer of its own length may be no float at all."""
SEAT_TEXT = (Path(__file__).parent / "seat.py").read_text(encoding="utf-8")


class Forfeit(Exception):
    """A player has lost by its own doing.

    Args:
        termination: crash, time_forfeit or illegal_move.
        failure: the same as a FailureKind.
        message: one line; untrusted text.
    """

    def __init__(self, termination: str, failure: FailureKind, message: str) -> None:
        super().__init__(message)
        self.termination = termination
        self.failure = failure
        self.message = message


@dataclass(frozen=True, slots=True)
class Turn:
    """What a player is told when it is to move."""

    moves: Sequence[str]
    """Made since this player's last turn, its own included; at first all of the opening."""
    side: int
    """0 moves first in the game."""
    left_ms: tuple[int, int]
    """Milliseconds left: of the game with clocks, otherwise of this move."""
    seconds: float
    """After which it is cut off."""


class Reply(NamedTuple):
    """A player's move, and what it says of the position, in which nobody believes."""

    move: str
    score: float | None = None
    """In the engine's unit, for the side to move."""
    depth: int | None = None
    """Plies it looked ahead."""
    error: str = ""
    """The last line on a UCI program's standard error: it may say why the move is none."""
    away: float = 0.0
    """Seconds of it in which this process stood still (`utils.patience`): nobody's time."""


def with_last_error(message: str, line: str) -> str:
    """`message`, and what a program said on standard error, where it said anything."""
    return f"{message}; the last line of its standard error: {line}" if line else message


class Player(Protocol):
    """An engine at the board. One game each."""

    def move(self, turn: Turn) -> Reply:
        """Return its move.

        Raises:
            Forfeit: crash, flood, hang.
            JobLost: its process was lost, not by its own doing; the game is played again.
        """

    def close(self) -> str:
        """End its game; returns the tail of what it printed."""


class SessionPlayer:
    """An engine file in a sandboxed session of its own, loaded on its own time.

    The session lasts: the engine's next game on this machine needs no new process.

    Args:
        prelude: source text of the game's `Position`.
    """

    def __init__(
        self, sandbox: Sandbox, code: str, prelude: str, *, limit: MoveLimit, limits: Limits, seed: int
    ) -> None:
        limits = limits.model_copy(update={"answer_kb": ANSWER_KB})
        prelude = f"{prelude}\n\n{SEAT_TEXT}"
        self._session = sandbox.lasting_session(code, limits=limits, seed=seed, prelude=prelude)
        try:
            self._session.call("seat.sit", [limit.for_engine()], timeout=LOAD_SECONDS)
            self._session.pause()
        except SessionFailure as failure:
            self._session.close()
            raise _forfeit(failure.result) from failure

    def move(self, turn: Turn) -> Reply:
        arguments = [list(turn.moves), turn.left_ms[turn.side]]
        try:
            answer = self._session.call("seat.move", arguments, timeout=turn.seconds)
        except SessionFailure as failure:
            raise _forfeit(failure.result) from failure
        self._session.pause()  # the opponent's time is not its own
        return _checked(answer)._replace(away=self._session.away)

    def close(self) -> str:
        return self._session.close().term_out[-2000:]


def _checked(answer: object) -> Reply:
    """The answer comes from a program we do not trust: it may have any shape."""
    if isinstance(answer, list | tuple) and len(answer) == 3 and isinstance(answer[0], str):
        move, score, depth = answer
        return Reply(
            move,
            float(score) if isinstance(score, int | float) and abs(score) < MOST_SCORE else None,
            int(depth) if isinstance(depth, int | float) and 0 <= depth <= MOST_DEPTH else None,
        )
    return Reply(repr(answer))


def _forfeit(result: ExecutionResult) -> Exception:
    """What a session's failure means for the game."""
    failure = result.failure or FailureKind.RUNTIME
    if failure is FailureKind.LOST_WORKER:
        return JobLost(f"the engine's process was lost: {result.message}")
    termination = "time_forfeit" if failure is FailureKind.TIMEOUT else "crash"
    kind = FailureKind.TIME_FORFEIT if failure is FailureKind.TIMEOUT else failure
    return Forfeit(termination, kind, result.message or failure.advice)
