"""A game as a job: plain data in, plain data out, so that any machine can play it."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, ConfigDict, Field

from core.arena.limit import MoveLimit
from core.arena.player import Forfeit, Player, SessionPlayer
from core.arena.referee import MOST_PLIES, Adjudication, GameRecord, PlayedMove, play_game
from core.arena.uci import UciPlayer
from core.arena.validator import engine_name
from core.contracts import Game, GameDefaults, JobContext, Limits, Sandbox, with_defaults
from core.state.node import Node
from core.state.task import derive_seed
from utils.errors import ConfigError, JobLost, SandboxError
from utils.registry import user_module

FAULT = "fault"
"""Key of what is wrong with the rules of a game, which may be the user's."""
TRIES = 3
"""How often a game is begun before a fault of ours is given up on."""


class Engine(BaseModel):
    """A program that plays."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    name: str = ""
    code: str = ""
    """Source of an engine file, played in a sandboxed session."""
    command: tuple[str, ...] = ()
    """In place of `code`: a UCI program of the user's own, started as it is. Never set from what a candidate wrote."""
    options: tuple[tuple[str, str], ...] = ()
    """UCI options of `command`: (name, value)."""


def engine_of(node: Node) -> Engine:
    """The node as a player."""
    name = node.name or engine_name(node.code) or node.id
    return Engine(id=node.id, name=name, code=node.code)


class Match(BaseModel):
    """One game to be played: the payload of the job."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    game: str
    """`package.module:Class` of the Game; `file.py:Class` in `inputs`."""
    prelude: str
    """Source text of the game's Position."""
    inputs: str | None = None
    """Folder of the user's file that holds the game; workers elsewhere are sent it. None for a game of ours."""
    white: Engine
    black: Engine
    opening: tuple[str, ...] = ()
    limit: str
    deadline: float = 10.0
    seed: int = 0
    adjudication: Adjudication = Field(default_factory=Adjudication)
    limits: Limits = Field(default_factory=lambda: Limits(seconds=3600, memory_mb=512, processes=1, output_kb=64))
    """Of each engine's session."""
    max_plies: int = MOST_PLIES
    """A game of so many is a draw; not part of its key, since rated games all go to the end."""
    spool: str | None = None
    """File that a live view reads moves from, one JSON object a line; a worker elsewhere sends what it appends."""


def play(payload: dict[str, Any], context: JobContext) -> dict[str, Any]:
    """Job entry: play the game and return its GameRecord as plain JSON, or `{FAULT: …}` where its rules fail."""
    try:
        return play_match(Match.model_validate(payload), context.sandbox).model_dump(mode="json")
    except ConfigError as error:
        return {FAULT: str(error)}


def play_match(match: Match, sandbox: Sandbox) -> GameRecord:
    """Play `match`; a fault of ours (SandboxError, JobLost) plays it again from the start, `TRIES` times at most."""
    game = load_game(match.game, Path(match.inputs) if match.inputs else None)
    for attempt in range(1, TRIES + 1):
        try:
            with _Spool(match.spool, attempt) as spool:
                return _play_once(match, game, sandbox, spool.write).model_copy(update={"tries": attempt})
        except (SandboxError, JobLost):
            if attempt == TRIES:
                raise
    raise AssertionError("unreachable")


def load_game(entry: str, inputs: Path | None = None) -> Game:
    """The Game that `package.module:Class` names, or `file.py:Class` of the folder `inputs`."""
    source, _, name = entry.partition(":")
    module = import_module(source) if inputs is None else user_module(inputs / source)
    game: Game = with_defaults(getattr(module, name)(), GameDefaults)
    return game


def _play_once(match: Match, game: Game, sandbox: Sandbox, on_move: Callable[[PlayedMove], None]) -> GameRecord:
    limit = MoveLimit.parse(match.limit)
    players: list[Player] = []
    outputs = ["", ""]
    with ExitStack() as stack:
        for side, engine in enumerate((match.white, match.black)):
            seed = derive_seed(match.seed, side) % 2**32
            try:
                player: Player
                if engine.command:
                    player = UciPlayer(engine.command, limit, engine.options, match.deadline)
                else:
                    player = SessionPlayer(
                        sandbox, engine.code, match.prelude, limit=limit, limits=match.limits, seed=seed
                    )
            except Forfeit as forfeit:
                return _lost_by_loading(match, game, side, forfeit)
            players.append(player)
            stack.callback(_keep_output, outputs, side, player)
        record = play_game(
            game,
            (players[0], players[1]),
            opening=match.opening,
            limit=limit,
            deadline=match.deadline,
            adjudication=match.adjudication,
            max_plies=match.max_plies,
            on_move=on_move,
        )
    return record.model_copy(update={"output": (outputs[0], outputs[1])})


def _keep_output(outputs: list[str], side: int, player: Player) -> None:
    outputs[side] = player.close()


def _lost_by_loading(match: Match, game: Game, side: int, forfeit: Forfeit) -> GameRecord:
    """The engine did not even load."""
    return GameRecord(
        result="0-1" if side == 0 else "1-0",
        termination=forfeit.termination,
        start=game.text(game.initial(match.opening)),
        moves=(),
        loser=0 if side == 0 else 1,
        failure=forfeit.failure,
        message=forfeit.message[:500],
    )


class _Spool:
    """Appends moves to a file; does nothing where its folder is not there."""

    def __init__(self, path: str | None, attempt: int) -> None:
        self._path = Path(path) if path and Path(path).parent.is_dir() else None
        self._attempt = attempt
        self._file: IO[str] | None = None

    def __enter__(self) -> _Spool:
        if self._path is not None:
            self._file = self._path.open("a", encoding="utf-8")
            self._put({"attempt": self._attempt})
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, move: PlayedMove) -> None:
        if self._file is not None:
            self._put(move.model_dump(mode="json"))

    def _put(self, line: dict[str, Any]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()
