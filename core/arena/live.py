"""Moves told as they are made.

A game runs in a worker; its moves are appended to a spool file on this machine (by the worker, or as they come from
one elsewhere), and one thread here carries new lines into the store in small batches. From a worker that sends nothing
while it works, a game's moves come at its end.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.arena.match import Match
from core.arena.referee import GameRecord, PlayedMove
from core.contracts import Game
from core.events import Event, GameMove, GameStarted
from utils.errors import SwarmEvoError

BEGINNING = b'{"attempt"'
"""So begins the line that a spool gets whenever its game is begun."""
INTERVAL = 0.25
"""Seconds between looks at the spool files."""


@dataclass(slots=True)
class _Open:
    """A game in progress."""

    game_id: str
    started: GameStarted
    path: Path
    begun: int = 0
    """How often it was begun, as far as the spool tells: by its job, and by a job that took the place of a lost one."""
    offset: int = 0
    told: int = 0
    """Moves of this attempt that are stored."""
    announced: bool = False
    untold: list[Event] = field(default_factory=list)
    """Events of it that are not stored yet."""


class LiveMoves:
    """Emits `game.started` and `game.move` while games are played.

    Args:
        folder: for the spool files; made here, emptied as games end.
        append: stores events; called from a thread of ours.
        session: number of the process that plays, so that a game cut by kill -9 comes back under a new id.
    """

    def __init__(self, folder: Path, append: Callable[[Sequence[Event]], None], session: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._append = append
        self._suffix = f".{session}" if session else ""
        self._games: dict[str, _Open] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> LiveMoves:
        self._stop.clear()
        self._thread = threading.Thread(target=self._watch, name="live-moves", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            for game in self._games.values():
                game.path.unlink(missing_ok=True)
            self._games.clear()

    def open(self, key: str, match: Match, game: Game) -> str:
        """Announce a game that is about to be played; returns the path of its spool."""
        path = self._folder / f"{key}{self._suffix}.jsonl"
        path.unlink(missing_ok=True)
        started = GameStarted(
            game_id=key + self._suffix,
            game=game.name,
            white=match.white.id,
            black=match.black.id,
            opening=list(match.opening),
            start=game.text(game.initial(match.opening)),
        )
        with self._lock:
            self._games[key] = _Open(started.game_id, started, path)
        return str(path)

    def close(self, key: str, record: GameRecord) -> tuple[str, list[Event]]:
        """(game id, events not yet told) of a finished game, for the transaction that stores it."""
        with self._lock:
            game = self._games.pop(key)
            begun = game.begun + sum(map(_is_beginning, self._lines(game)))
            game.path.unlink(missing_ok=True)
            if max(begun, record.tries) > max(game.begun, 1):
                self._restart(game, max(begun, record.tries))  # the last look at the spool saw an earlier attempt
            rest: list[Event] = game.untold if game.announced else [*game.untold, game.started]
            rest += [_event(game.game_id, move) for move in record.moves[game.told :]]
        return game.game_id, rest

    # ------------------------------------------------------------ the thread

    def _watch(self) -> None:
        while not self._stop.wait(INTERVAL):
            with self._lock:
                for game in self._games.values():
                    game.untold += self._news(game)
                if events := [event for game in self._games.values() for event in game.untold]:
                    with suppress(SwarmEvoError):  # told the next time, or with the game, by who can tell of it
                        self._append(events)
                        for game in self._games.values():
                            game.untold = []

    def _news(self, game: _Open) -> list[Event]:
        """Events of the lines that are new since the last look."""
        events: list[Event] = []
        for line in self._lines(game):
            if _is_beginning(line):
                game.begun += 1
                if game.begun > 1:
                    self._restart(game, game.begun)
            else:
                events += self._tell(game, json.loads(line))
        return events

    def _lines(self, game: _Open) -> list[bytes]:
        """Whole lines of the spool that nobody has looked at."""
        try:
            with game.path.open("rb") as file:
                file.seek(game.offset)
                text = file.read()
        except OSError:  # not there yet; or no descriptor is left for it now: looked at the next time
            return []
        whole = text[: text.rfind(b"\n") + 1]
        game.offset += len(whole)
        return whole.splitlines()

    def _tell(self, game: _Open, item: dict[str, Any]) -> list[Event]:
        events: list[Event] = [] if game.announced else [game.started]
        game.announced = True
        game.told += 1
        return [*events, _event(game.game_id, PlayedMove.model_validate(item))]

    def _restart(self, game: _Open, begun: int) -> None:
        """A fault of ours cut the game; it is played again under an id of its own."""
        game.begun = begun
        game.game_id = f"{game.started.game_id.partition('~')[0]}~{begun}"
        game.started = game.started.model_copy(update={"game_id": game.game_id})
        game.announced, game.told = False, 0


def _is_beginning(line: bytes) -> bool:
    return line.startswith(BEGINNING)


def _event(game_id: str, move: PlayedMove) -> GameMove:
    return GameMove(
        game_id=game_id,
        ply=move.ply,
        uci=move.uci,
        san=move.san,
        fen=move.fen,
        clock=move.clock,
        seconds=move.seconds,
        score=move.score,
        depth=move.depth,
    )
