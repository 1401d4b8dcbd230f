"""One game: the referee keeps board and clocks and believes no player."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.arena.limit import Clocks, MoveLimit
from core.arena.player import Forfeit, Player, Reply, Turn, with_last_error
from core.arena.rules import outcome_of
from core.contracts import Game, Outcome
from core.state.failure import FailureKind

MOST_PLIES = 600
"""Moves of both sides together after which a game is drawn."""
SHOWN_MOVE = 60
"""Characters of a move that is none which are told."""


class PlayedMove(BaseModel):
    """One move as it was made; the fields of the event `game.move`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ply: int
    """From 1, the opening's moves not counted."""
    uci: str
    san: str
    fen: str
    """The position after the move."""
    clock: tuple[float | None, float | None] = (None, None)
    seconds: float = 0.0
    score: float | None = None
    """What the engine says of the position it moved from, from the first player's view; in the engine's unit."""
    depth: int | None = None
    """Plies that it says it looked ahead."""


class GameRecord(BaseModel):
    """A finished game, as the referee saw it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    result: Outcome
    termination: str
    """By the rules (checkmate, four_in_a_row, …), or illegal_move, time_forfeit, crash, adjudication, length."""
    start: str
    """The position after the opening."""
    moves: tuple[PlayedMove, ...]
    loser: Literal[0, 1] | None = None
    """The side that forfeited, or None."""
    failure: FailureKind | None = None
    """Why it forfeited."""
    message: str = ""
    """Untrusted text."""
    output: tuple[str, str] = ("", "")
    """Tail of what each engine printed. Untrusted text."""
    a_move: tuple[float | None, float | None] = (None, None)
    """Mean seconds of each side's moves; None for one that made none."""
    tries: int = 1
    """How often the game was begun: faults of ours are played again."""


class Adjudication(BaseModel):
    """Ends games early where both engines agree by their own `score`, so that no engine wins by what it says.

    Defaults are those usual with cutechess-cli; scores in the game's unit (centipawns).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    draw: bool = False
    draw_after: int = Field(68, ge=0)
    """Plies before which no draw is given."""
    draw_plies: int = Field(16, ge=2)
    draw_score: float = 10.0
    resign: bool = False
    resign_plies: int = Field(6, ge=2)
    resign_score: float = 600.0

    def verdict(self, scores: Sequence[float | None], plies: int) -> Outcome | None:
        """`scores` from the first player's view, one a ply, oldest first."""
        tail = scores[-self.draw_plies :]
        quiet = len(tail) == self.draw_plies and all(s is not None and abs(s) <= self.draw_score for s in tail)
        if self.draw and plies >= self.draw_after and quiet:
            return "1/2-1/2"
        tail = scores[-self.resign_plies :]
        if self.resign and len(tail) == self.resign_plies:
            if all(score is not None and score >= self.resign_score for score in tail):
                return "1-0"
            if all(score is not None and score <= -self.resign_score for score in tail):
                return "0-1"
        return None


def play_game(
    game: Game,
    players: tuple[Player, Player],
    *,
    opening: Sequence[str],
    limit: MoveLimit,
    deadline: float,
    adjudication: Adjudication | None = None,
    max_plies: int = MOST_PLIES,
    on_move: Callable[[PlayedMove], None] | None = None,
    timer: Callable[[], float] = time.perf_counter,
) -> GameRecord:
    """Play from `opening` to the end. `players[0]` moves first in the game (white), whatever the opening's length.

    Raises:
        SandboxError, JobLost: a fault of ours, from a player. Nothing is known about the game then.
        ConfigError: the rules, which may be the user's, leave out how it ends.
    """
    table = _Table(game, opening, Clocks(limit, deadline), adjudication or Adjudication())
    while (ended := table.outcome(max_plies)) is None:
        side = table.side
        asked = timer()
        try:
            reply = players[side].move(table.turn())
            move = table.accept(reply, timer() - asked - reply.away)
        except Forfeit as forfeit:
            return table.lost_by(side, forfeit)
        if on_move is not None:
            on_move(move)
    return table.record(*ended)


class _Table:
    """The state of one game in progress."""

    def __init__(self, game: Game, opening: Sequence[str], clocks: Clocks, adjudication: Adjudication) -> None:
        self.game = game
        self.clocks = clocks
        self.state: Any = game.initial(opening)
        self.start = game.text(self.state)
        self.moves: list[PlayedMove] = []
        self._line = list(opening)
        self._seen = [0, 0]
        self._scores: list[float | None] = []
        self._seconds: tuple[list[float], list[float]] = ([], [])
        self._adjudication = adjudication

    @property
    def side(self) -> Literal[0, 1]:
        return self.game.to_move(self.state)

    def turn(self) -> Turn:
        """What the side to move is told: only the moves it has not seen yet."""
        side = self.side
        new = self._line[self._seen[side] :]
        self._seen[side] = len(self._line)
        left = self.clocks.left_ms(0), self.clocks.left_ms(1)
        return Turn(new, side, left, self.clocks.allowance(side))

    def outcome(self, max_plies: int) -> tuple[Outcome, str] | None:
        by_rule = outcome_of(self.game, self.state)
        if by_rule is not None:
            return by_rule
        agreed = self._adjudication.verdict(self._scores, len(self.moves))
        if agreed is not None:
            return agreed, "adjudication"
        return ("1/2-1/2", "length") if len(self.moves) >= max_plies else None

    def accept(self, reply: Reply, seconds: float) -> PlayedMove:
        """Make the move; Forfeit if it is illegal or came too late."""
        side, move = self.side, reply.move
        score = reply.score if reply.score is None or side == 0 else -reply.score
        allowed = self.clocks.allowance(side)
        if not self.clocks.press(side, seconds):
            message = f"move {len(self.moves) + 1} took {seconds:.2f} s, allowed were {allowed:.2f} s"
            raise Forfeit("time_forfeit", FailureKind.TIME_FORFEIT, message)
        if move not in self.game.legal(self.state):
            position = self.game.text(self.state)
            shown = f"{move[:SHOWN_MOVE]}…" if len(move) > SHOWN_MOVE else move
            message = with_last_error(f"{shown!r} is not a legal move in {position}", reply.error)
            raise Forfeit("illegal_move", FailureKind.ILLEGAL_MOVE, message)
        san = self.game.san(self.state, move)
        self.state = self.game.apply(self.state, move)
        self._line.append(move)
        self._scores.append(score)
        self._seconds[side].append(seconds)
        made = PlayedMove(
            ply=len(self.moves) + 1,
            uci=move,
            san=san,
            fen=self.game.text(self.state),
            clock=self.clocks.reading(),
            seconds=round(seconds, 6),
            score=score,
            depth=reply.depth,
        )
        self.moves.append(made)
        return made

    def record(self, result: Outcome, termination: str) -> GameRecord:
        first, second = (round(fmean(each), 6) if each else None for each in self._seconds)
        return GameRecord(
            result=result, termination=termination, start=self.start, moves=tuple(self.moves), a_move=(first, second)
        )

    def lost_by(self, side: Literal[0, 1], forfeit: Forfeit) -> GameRecord:
        ended = self.record("0-1" if side == 0 else "1-0", forfeit.termination)
        return ended.model_copy(update={"loser": side, "failure": forfeit.failure, "message": forfeit.message[:500]})
