"""Plays the games of a tournament as jobs; games that the book holds are not played again."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from threading import Event as Flag
from threading import Lock
from types import MappingProxyType
from typing import Any

from core.arena.limit import MoveLimit
from core.arena.live import LiveMoves
from core.arena.match import FAULT, Match
from core.arena.pairings import Pairing
from core.arena.pgn import time_control, to_pgn
from core.arena.referee import MOST_PLIES, GameRecord
from core.arena.spec import ArenaSettings
from core.contracts import EvaluatorDeps, Game, JobSpec
from core.events import Event, GameFinished, Warned
from utils.config_section import LONGEST_WAIT
from utils.counts import counted
from utils.errors import ConfigError, Interrupted, JobLost
from utils.file_utils import write_atomic
from utils.thread_pool import threads

ENTRY = "core.arena.match:play"
_UNREADABLE = 1000
"""Processes of a run whose count a power cut took: more than any had, so that its next games have ids of their own."""

Played = tuple[Pairing, dict[str, Any] | None, list[Event]]
"""A game that is over: its stored form, None where it was lost by us, and what is told of it."""
Begun = Callable[[], None]
"""Waits for the end of a game that somebody else plays."""


@dataclass(frozen=True, slots=True)
class _Plays:
    """How the games of one call are played."""

    live: LiveMoves
    kind: str
    generation: int | None
    begun: Mapping[str, Begun]
    may_begin: Callable[[Pairing], bool]
    claimed: dict[str, Flag]
    """By key, the games that this call plays, or has played."""


class Tournament:
    """Plays pairings on the job runner and keeps what came of them.

    Args:
        session: see `LiveMoves`.
    """

    def __init__(self, deps: EvaluatorDeps, game: Game, session: int) -> None:
        self._deps = deps
        self._game = game
        self._session = session
        self._lock = Lock()
        self.effort: dict[str, list[float]] = {}
        """Engine id → seconds a move in each game that this process has had played."""
        self._under_way: dict[str, Flag] = {}
        """Key → set once the game is in the book, or given up: of two engines with one program one plays."""

    def play(
        self,
        pairings: Sequence[Pairing],
        *,
        kind: str,
        generation: int | None = None,
        stage: str = "",
        begun: Mapping[str, Begun] = MappingProxyType({}),
        may_begin: Callable[[Pairing], bool] = lambda pairing: True,
    ) -> list[dict[str, Any]]:
        """Return the games in the pairings' order, each as the book keeps it; a game lost by us is left out.

        Where the same programs meet under several ids, or a program meets itself, the game is played once and returned
        for each of these pairings, under its ids.

        Args:
            kind: rated, smoke, final: kept with the game.
            stage: what these games are for, in words; whoever watches is told how many of them are over. '': nothing.
            begun: by key, games that are played already: they are waited for.
            may_begin: asked when a worker is free for a game; what it refuses is left out.
        """
        wanted = {pairing.key: pairing for pairing in pairings}
        games = {key: game for key, pairing in wanted.items() if (game := self._known(pairing)) is not None}
        missing = [pairing for key, pairing in wanted.items() if key not in games]
        if stage and missing:
            self._deps.doing(f"{stage}: {len(games)} of {counted(len(wanted), 'game')}")

        claimed: dict[str, Flag] = {}
        moves = LiveMoves(self._deps.work_dir / "live", self._deps.append, self._session)
        try:
            with (
                moves as live,
                closing(self._results(missing, _Plays(live, kind, generation, begun, may_begin, claimed))) as results,
            ):  # no game begins any more where one cannot be stored
                for left, (pairing, game, events) in results:
                    if stage:
                        self._deps.doing(f"{stage}: {len(wanted) - left} of {counted(len(wanted), 'game')}")
                    if game is None:
                        self._tell(events)
                        continue
                    games[pairing.key] = game
                    if events:  # else who played it has stored it
                        self._store(pairing.key, game, events, claimed)
        finally:
            self._let_go(claimed)
        meant = {(pairing.key, pairing.match.white.id, pairing.match.black.id): pairing for pairing in pairings}
        return [_under_ids(games[key], pairing) for (key, *_), pairing in meant.items() if key in games]

    def _tell(self, events: Sequence[Event]) -> None:
        if events:
            self._deps.append(events)

    def _store(self, key: str, game: dict[str, Any], events: Sequence[Event], claimed: Mapping[str, Flag]) -> None:
        self._deps.games.put(key, game, events)
        self._let_go({key: claimed[key]})

    def _claim(self, key: str, claimed: dict[str, Flag]) -> None:
        """Return when nobody else plays the game: it is in the book, or the caller's to play."""
        while True:
            with self._lock:
                other = self._under_way.get(key)
                if other is None:
                    claimed[key] = self._under_way[key] = Flag()
                    return
            other.wait()

    def _let_go(self, claimed: Mapping[str, Flag]) -> None:
        with self._lock:
            for key, flag in claimed.items():
                if self._under_way.get(key) is flag:
                    del self._under_way[key]
                flag.set()

    def _known(self, pairing: Pairing) -> dict[str, Any] | None:
        """The book's game, under the ids of the pairing."""
        game = self._deps.games.get(pairing.key)
        return None if game is None else _under_ids(game, pairing)

    def _results(self, missing: Sequence[Pairing], plays: _Plays) -> Generator[tuple[int, Played]]:
        """(games still to come, (pairing, stored form or None, events)) as games end.

        Raises Interrupted, where the user wants the end, once the games that were begun are over and told.
        """
        if not missing:
            return
        with threads(max(1, self._deps.jobs.slots), "game") as pool:
            futures: list[Future[Played]] = [pool.submit(self._played, pairing, plays) for pairing in missing]
            try:
                yield from _as_they_end(futures)
            except BaseException:
                for future in futures:
                    future.cancel()  # an interrupt or a fault of ours: start no further game
                raise

    def _played(self, pairing: Pairing, plays: _Plays) -> Played:
        """The game, by whoever played it; without a stored form and without events where it may not begin."""
        key = pairing.key
        if key in plays.begun:
            plays.begun[key]()
        self._claim(key, plays.claimed)
        if (known := self._known(pairing)) is not None:
            self._let_go({key: plays.claimed[key]})
            return pairing, known, []
        game, events = None, list[Event]()
        try:
            if plays.may_begin(pairing):
                _, game, events = self._play(pairing, plays.live, plays.kind, plays.generation)
        finally:
            if game is None:  # at once: two calls that each kept such a game would wait for each other for good
                self._let_go({key: plays.claimed[key]})
        return pairing, game, events

    def _play(self, pairing: Pairing, live: LiveMoves, kind: str, generation: int | None) -> Played:
        spool = live.open(pairing.key, pairing.match, self._game)
        match = pairing.match.model_copy(update={"spool": spool})
        longest = MoveLimit.parse(match.limit).longest_game(MOST_PLIES, match.deadline)
        # A game that is cut off is void: nobody may want it.
        seconds = min(match.limits.seconds + longest, LONGEST_WAIT)
        job = JobSpec(
            entry=ENTRY, payload=match.model_dump(mode="json"), label=pairing.key, seconds=seconds, memory_mb=1024
        )
        try:
            told = self._deps.jobs.run(job)
        except JobLost as error:
            lost = Warned(text=f"game {pairing.key} was lost with its worker, also after retries, and is void: {error}")
            return pairing, None, [lost]
        if FAULT in told:
            raise ConfigError(told[FAULT])
        record = GameRecord.model_validate(told)
        self._note_effort(match, record)
        game_id, events = live.close(pairing.key, record)
        game, finished = stored_game(self._game, pairing, record, game_id, kind, generation)
        return pairing, game, [*events, finished]

    def _note_effort(self, match: Match, record: GameRecord) -> None:
        with self._lock:
            for engine, seconds in zip((match.white, match.black), record.a_move, strict=True):
                if seconds is not None:
                    self.effort.setdefault(engine.id, []).append(seconds)


def _under_ids(game: dict[str, Any], pairing: Pairing) -> dict[str, Any]:
    white, black = pairing.match.white, pairing.match.black
    if (game["white"], game["black"]) == (white.id, black.id):
        return game
    return {**game, "white": white.id, "black": black.id, "names": [white.name or white.id, black.name or black.id]}


def _as_they_end(futures: Sequence[Future[Played]]) -> Iterator[tuple[int, Played]]:
    """(games still to come, the game) as games end; Interrupted, where some were not begun, after all others."""
    refused, ended = None, 0
    for future in as_completed(futures):
        try:
            played = future.result()
        except Interrupted as stop:
            refused = stop
            continue
        ended += 1
        yield len(futures) - ended, played
    if refused is not None:
        raise refused


def stored_game(
    game: Game, pairing: Pairing, record: GameRecord, game_id: str, kind: str, generation: int | None
) -> tuple[dict[str, Any], GameFinished]:
    """A finished game as the book keeps it, and the event that tells it; positions and PGN stand in events alone."""
    match = pairing.match
    white, black = match.white.name or match.white.id, match.black.name or match.black.id
    today = datetime.now(UTC).strftime("%Y.%m.%d")
    control = time_control(MoveLimit.parse(match.limit))
    tags = {"Date": today, "White": white, "Black": black, "TimeControl": control}
    if generation is not None:
        tags["Round"] = str(generation)
    pgn = to_pgn(game, record, match.opening, tags)
    kept = {
        "key": pairing.key,
        "game_id": game_id,
        "game": game.name,
        "kind": kind,
        "generation": generation,
        "white": match.white.id,
        "black": match.black.id,
        "names": [white, black],
        "opening": list(match.opening),
        "limit": match.limit,
        "seed": match.seed,
        "start": record.start,
        "moves": [move.uci for move in record.moves],
        "scores": [move.score for move in record.moves],
        "depths": [move.depth for move in record.moves],
        "a_move": list(record.a_move),
        "result": record.result,
        "termination": record.termination,
        "loser": record.loser,
        "failure": record.failure.value if record.failure else None,
        "message": record.message,
        "output": list(record.output),
        "tries": record.tries,
    }
    finished = GameFinished(
        game_id=game_id,
        game=game.name,
        white=match.white.id,
        black=match.black.id,
        result=record.result,
        termination=record.termination,
        plies=len(record.moves),
        pgn=pgn,
    )
    return kept, finished


def count_session(deps: EvaluatorDeps) -> int:
    """How many processes took up this run's games before this one; kept in the run's folder."""
    path = deps.run_dir / "files" / "arena_sessions"
    try:
        before = int(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        before = 0
    except ValueError:
        before = _UNREADABLE
    write_atomic(path, str(before + 1))
    return before


def with_deadline(settings: ArenaSettings, seconds: float) -> ArenaSettings:
    """The same arena with another hang deadline."""
    return replace(settings, deadline=min(settings.deadline, seconds))
