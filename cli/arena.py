"""`arena`: a tournament of any mix of engine files, exported engines and UCI programs."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any

from cli.options import add_config_options, config_of, count
from cli.terminal.standings_text import standings_lines
from core.arena.file_trial import check_engine_files
from core.arena.match import Engine
from core.arena.memory_book import MemoryBook
from core.arena.opening_book import OpeningBook
from core.arena.openings import draw_openings
from core.arena.pairings import names_of, round_robin
from core.arena.pgn import with_elo, with_names
from core.arena.spec import ArenaSettings, ArenaSpec
from core.arena.standings import Crosstable, Played, Ratings, cross_rows, table_rows
from core.arena.suitability import unequal, unsuited
from core.arena.tournament import Tournament
from core.arena.uci_options import split_options
from core.arena.uci_trial import check_uci_program
from core.arena.validator import engine_name, static_refusal
from core.contracts import EvaluatorDeps, Game
from core.events import Event, GameFinished, GameMove, GameStarted
from core.state.journal import Journal
from core.state.task import derive_seed
from runs.run_folder import check_place
from utils.clean_text import one_line
from utils.config_schema import Config
from utils.counts import counted
from utils.errors import ConfigError
from utils.file_utils import in_place_of
from utils.scratch_folders import scratch_folder
from utils.user_places import check_file_place, make_folder_of, writes
from utils.user_text import user_text

MOST_GAMES = 100_000
_STARTERS = re.compile(
    r"(python|pypy|java|node|deno|bun|ruby|perl|lua|julia|Rscript|dotnet|mono|wine|bash|sh|env|nice|taskset|uv|run)[\d.]*"
)
"""Programs that start another one, which is the engine."""
_ENDING = re.compile(r"\.[A-Za-z]\w{0,4}$")
GAMES_PATH = "/usr/games:/usr/local/games"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "arena",
        help="let engines play each other",
        description="An ENGINE is a Python file that binds `engine` (played in the sandbox), or a UCI "
        "command such as 'stockfish' or 'python my_engine.py --fast', which runs as you. Words option.NAME=VALUE set "
        "its UCI options: 'stockfish option.UCI_LimitStrength=true option.UCI_Elo=1400 option.Hash=16'.",
    )
    parser.add_argument("engines", nargs="+", metavar="ENGINE")
    parser.add_argument(
        "--games", type=count, metavar="N", help="games of each pair, an even number; with --openings: from each"
    )
    parser.add_argument("--openings", type=count, metavar="N", help="openings, each played with both colours")
    parser.add_argument(
        "--book", metavar="FILE", help="openings from here: .epd (positions), .pgn or .txt (moves, one opening a line)"
    )
    parser.add_argument("--plies", type=count, metavar="N", help="the first N moves of each opening")
    parser.add_argument("--order", choices=("random", "sequential"), help="in which the book is read (default: random)")
    parser.add_argument("--start", type=count, metavar="N", help="with --order sequential: the book's first opening")
    parser.add_argument("--pgn", metavar="FILE", help="write the games here")
    parser.add_argument("--json", action="store_true", help="print the standings as JSON")
    add_config_options(parser)


def run(args: argparse.Namespace) -> int:
    """Play the round robin and print the standings; interrupted, those of the games that are over."""
    from runs.composition import open_jobs

    if args.pgn:
        check_file_place("pgn", Path(args.pgn))
    config, problem = _game_of(args)
    if len(args.engines) < 2:
        raise ConfigError("arena: name at least two engines")
    settings = _settings(problem.settings, args)
    _check_games(len(args.engines), settings)
    openings = _openings(problem, settings, args, config.project.seed)
    engines = _engines(args.engines, problem.spec)
    for word, engine in zip(args.engines, engines, strict=True):
        if engine.command:
            check_uci_program(word, engine, problem.spec.game, settings)
    _say([*_told_of(problem.book), *(f"warning: {one}" for one in unsuited(engines, settings.limit))])
    book = _Narrator(engines, problem.spec.game, quiet=args.json)
    seed = config.project.seed
    pairings = round_robin(engines, openings, games=settings.games, seed=seed, spec=problem.spec, settings=settings)
    interrupt: KeyboardInterrupt | None = None
    with scratch_folder("swarm-evo-arena-") as folder:
        try:
            with open_jobs(config, problem, folder, accept_unsandboxed=args.i_accept_unsandboxed) as (
                jobs,
                limits,
            ):
                deps = EvaluatorDeps(
                    jobs=jobs,
                    limits=limits,
                    run_dir=folder,
                    work_dir=folder,
                    seed=config.project.seed,
                    journal=Journal(),
                    games=book,
                    append=book.watch,
                    isolated=config.execution.sandbox != "none",
                )
                files = {word: one for word, one in zip(args.engines, engines, strict=True) if one.code}
                check_engine_files(files, deps, problem.spec, settings)
                tournament = Tournament(deps, problem.spec.game, 0)
                games = tournament.play(pairings, kind="rated")
        except KeyboardInterrupt as error:
            played = [pairing for pairing in pairings if book.get(pairing.key) is not None]
            if not played:
                raise
            interrupt, games = error, tournament.play(played, kind="rated")
    rows = _print(games, engines, as_json=args.json)
    _say([f"warning: {one}" for one in unequal(book.seconds, settings.limit)])
    if args.pgn:
        elo = {row["node_id"]: row["elo"] for row in rows}
        texts = [
            with_elo(with_names(book.pgn[game["key"]], *game["names"]), elo[game["white"]], elo[game["black"]])
            for game in games
        ]
        make_folder_of("pgn", Path(args.pgn))
        with writes("pgn", Path(args.pgn)), in_place_of(Path(args.pgn)) as new:
            new.write_text("\n".join(texts), encoding="utf-8")
    if interrupt is not None:
        print(f"these are the {counted(len(games), 'game')} that were over when it was interrupted", file=sys.stderr)
        raise interrupt
    return 0


class _Narrator(MemoryBook):
    """Prints each game as it ends."""

    def __init__(self, engines: Sequence[Engine], game: Game, *, quiet: bool) -> None:
        super().__init__()
        self._game = game
        self._names = names_of(engines)
        self._quiet = quiet
        self.pgn: dict[str, str] = {}
        """Key → game."""
        self.seconds: dict[str, list[float]] = defaultdict(list)
        """Name of an engine → seconds of each of its moves."""
        self._at_play: dict[str, tuple[tuple[str, str], Any]] = {}
        """Id → the names of its players, and its state: in some games a player moves twice."""

    def put(self, key: str, game: dict[str, Any], events: Sequence[Event]) -> None:
        super().put(key, game, events)
        self.watch(events)
        for event in events:
            if isinstance(event, GameFinished):
                self.pgn[key] = event.pgn
                if not self._quiet:
                    white, black = self._names[event.white], self._names[event.black]
                    plies = counted(event.plies, "ply", "plies")
                    line = f"{white} - {black}  {event.result}  {event.termination.replace('_', ' ')}, {plies}"
                    print(one_line(f"{line}: {game['message']}" if game["message"] else line), flush=True)

    def watch(self, events: Sequence[Event]) -> None:
        """Keep what each move took."""
        for event in events:
            if isinstance(event, GameStarted):
                names = self._names[event.white], self._names[event.black]
                self._at_play[event.game_id] = names, self._game.initial(event.opening)
            elif isinstance(event, GameMove):
                names, state = self._at_play[event.game_id]
                self.seconds[names[self._game.to_move(state)]].append(event.seconds)
                self._at_play[event.game_id] = names, self._game.apply(state, event.uci)
            elif isinstance(event, GameFinished):
                self._at_play.pop(event.game_id, None)


def _settings(settings: ArenaSettings, args: argparse.Namespace) -> ArenaSettings:
    for name in ("games", "openings"):
        value = getattr(args, name)
        if value is not None:
            if name == "games" and value % 2:
                raise ConfigError(f"--games {value}: allowed are even numbers from 2")
            settings = replace(settings, **{name: value})
    if args.games is not None and args.openings is None:  # games from one opening repeat themselves: take more openings
        settings = replace(settings, openings=args.games // 2, games=2)
    return settings


def _check_games(engines: int, settings: ArenaSettings) -> None:
    """Raise ConfigError for more games than anybody waits for: all pairings are drawn before the first."""
    all_games = comb(engines, 2) * settings.openings * settings.games
    if all_games > MOST_GAMES:
        games = counted(settings.games, "game", form=",")
        openings = f"{games} from each of {counted(settings.openings, 'opening', form=',')}"
        raise ConfigError(
            f"arena: {counted(all_games, 'game', form=',')} ({openings}); at most {MOST_GAMES:,} are played"
        )


def _engines(words: Sequence[str], spec: ArenaSpec) -> list[Engine]:
    engines: list[Engine] = []
    for index, word in enumerate(words):
        engine = _engine(word, f"engine-{index + 1}", spec)
        taken = {other.name for other in engines}
        name = engine.name if engine.name not in taken else f"{engine.name} ({index + 1})"
        engines.append(engine.model_copy(update={"name": name}))
    return engines


def _engine(word: str, id_: str, spec: ArenaSpec) -> Engine:
    path = Path(word)
    if path.suffix == ".py" and path.is_file():
        code = user_text(path, "engine ")
        refusal = static_refusal(code, spec.packages)
        if refusal is not None:
            spoken = f"; a program that speaks UCI is named by its command: 'python3 {word}'" * ("uci" in code.lower())
            raise ConfigError(f"engine '{word}': {refusal.message}{spoken}")
        return Engine(id=id_, name=engine_name(code) or path.stem, code=code)
    try:
        words = shlex.split(word)
    except ValueError as error:
        raise ConfigError(f"engine '{word}': {error}") from error
    command, options = split_options(words)
    program = _program(command[0]) if command else None
    if program is None:
        raise ConfigError(f"engine '{word}': neither an engine file (.py) nor a program that can be found")
    return Engine(id=id_, name=engine_label(command, options), command=(program, *command[1:]), options=options)


def engine_label(command: Sequence[str], options: Sequence[tuple[str, str]]) -> str:
    """The program's name, of a script that of its file; with an Elo to which it is limited."""
    elo = [value for name, value in options if name.lower() == "uci_elo"]
    named = [word for word in command if not (word.startswith("-") or word.isdecimal() or "=" in word)]
    programs = [name for name in map(_stem, named) if not _STARTERS.fullmatch(name)]
    return " ".join([*(programs or [_stem(command[0])])[:1], *elo])


def _stem(word: str) -> str:
    """A program's file without its folder and its ending; the version in `stockfish-16.1` is none."""
    return _ENDING.sub("", Path(word).name) or word


def _program(word: str) -> str | None:
    """Where the program lies; also looked for where Debian keeps games, which is not on every path."""
    if Path(word).is_file():
        return word
    return shutil.which(word) or shutil.which(word, path=GAMES_PATH)


def _game_of(args: argparse.Namespace) -> tuple[Config, Any]:
    """The configuration that the words make, and its problem: a game."""
    from runs.composition import problem_of

    args.problem = args.problem or "connect_four"
    config = config_of(args)
    config.arena.book = args.book or config.arena.book
    config.arena.plies = args.plies or config.arena.plies
    if config.arena.book is None and args.order:
        raise ConfigError(f"--order {args.order}: openings are random without a book; add --book FILE")
    if args.start and args.order != "sequential":
        raise ConfigError(f"--start {args.start}: a random order has no beginning; add --order sequential")
    check_place(config.project.dir)
    problem = problem_of(config)
    if problem.family != "arena":
        raise ConfigError(
            f"--problem {args.problem}: that is no game; allowed: connect_four, chess_engines, a game of your own "
            "(`init NAME --game` writes one)"
        )
    return config, problem


def _told_of(book: OpeningBook | None) -> list[str]:
    return [] if book is None else [book.note, *book.news()]


def _openings(problem: Any, settings: ArenaSettings, args: argparse.Namespace, seed: int) -> list[tuple[str, ...]]:
    """What the games begin from; ConfigError where the book has fewer openings than the words ask for."""
    drawn, wanted, book = derive_seed(seed, "openings", "arena"), settings.openings, problem.book
    if book is None:
        return draw_openings(problem.spec.game, wanted, plies=problem.spec.opening_plies, seed=drawn)
    found: list[tuple[str, ...]]
    if args.order == "sequential":
        found = book.sequence(wanted, args.start or 1)
    else:
        found = book.draw(wanted, seed=drawn, held_out=None)
    is_said = args.openings is not None or args.games is not None
    if not found or (is_said and len(found) < wanted):
        which = f"from its opening {args.start} on " if args.start else ""
        said = f"{wanted} are wanted" if is_said else "one is needed"
        raise ConfigError(f"{book.name}: {which}it has {counted(len(found), 'opening')} to play from, and {said}")
    return found


def _print(games: Sequence[dict[str, Any]], engines: Sequence[Engine], *, as_json: bool) -> list[dict[str, Any]]:
    """Print the standings and return their rows."""
    played = [Played.of(game) for game in games]
    table = Crosstable([engine.id for engine in engines], played)
    rows = table_rows(table, Ratings(played).estimates(engines[0].id), names_of(engines))
    cross = cross_rows(table)
    uncounted = _uncounted(games, table)
    if as_json:
        forfeits = [row for game in games if (row := _forfeit(game)) is not None]
        found = {"standings": rows, "pairs": cross, "games": len(table.games), "forfeits": forfeits}
        print(json.dumps(found, indent=2))
        _say(uncounted)
        return rows
    print()
    for line in standings_lines(rows):
        print(line)
    names = names_of(engines)
    for pair in cross:
        line = f"{names[pair['a']]} v {names[pair['b']]}: +{pair['wins']} ={pair['draws']} -{pair['losses']}"
        print(one_line(f"{line}, pairs {pair['pentanomial']}, LOS {100 * pair['los']:.1f} %"))
    _say(uncounted)
    return rows


def _forfeit(game: Mapping[str, Any]) -> dict[str, Any] | None:
    """Who lost the game by its own doing, after how many plies from which opening, and why; None where nobody did."""
    side = game["loser"]
    if side is None:
        return None
    engines = game["white"], game["black"]
    about = {"node_id": engines[side], "name": game["names"][side], "opponent": engines[1 - side]}
    place = {"opening": game["opening"], "plies": len(game["moves"])}
    return {**about, "termination": game["termination"], "message": one_line(game["message"]), **place}


def _say(lines: Sequence[str]) -> None:
    for line in lines:
        print(line, file=sys.stderr)


def _uncounted(games: Sequence[dict[str, Any]], table: Crosstable) -> list[str]:
    """Why the standings have another number of games than were played, a line each."""
    again = len(games) - len({game["key"] for game in games})
    same = f"not played again, since engines are one program: {again} of {counted(len(games), 'game')} equal others."
    return [*([same] if again else []), *([f"{table.left_out}."] if table.left_out else [])]
