"""What the arena's games have in common as problems: a game's own `problem.py` adds its texts, engines and rules."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agents.builder_agent import BuilderAgent
from core.arena.evaluator import ArenaEvaluator
from core.arena.export import standalone
from core.arena.opening_book import OpeningBook
from core.arena.pgn import with_elo
from core.arena.repertoire import ArenaRules
from core.arena.rules import try_rules
from core.arena.setup import read_engine, settings_of
from core.arena.spec import ArenaSettings, ArenaSpec
from core.arena.standings import newest_elo
from core.arena.validator import engine_name, foreign_imports
from core.contracts import Agent, AgentBuilder, Baseline, Evaluator, EvaluatorDeps, Limits, Problem, RulesWriter
from core.events import GameFinished, GenerationFinished
from core.state.node import Node
from core.storage.database import DB_NAME
from core.storage.reader import RunReader
from core.workers.shipping import check_shippable
from problems.opening_file import read_book
from problems.user_files import GAME
from utils.config_schema import Config
from utils.counts import counted
from utils.registry import user_file
from utils.shared_property import shared_property
from utils.unread_keys import OF_COMPETITIONS, OF_LIMITS, OF_REPEATS, OF_RUNGS, OF_TUNING
from utils.user_path import user_path

TRIED_PLIES = 3000
"""Of random games, by a user's own rules, before a search."""

LIMIT_TEXT = """\
position.limit         .nodes, .depth, .milliseconds: what this move may cost; None where it does not apply
position.limit.increment                            milliseconds that a move adds to the clock, or None
position.limit.stopped                              True once the move is wanted at once
position.limit.report(depth, score, nodes, line)    tell each depth that is finished

The process may not start threads. Deepen ply by ply and have a move ready when the limit ends. Under .nodes count one
node for each position searched; under .depth look so many plies ahead; with .milliseconds the move may take so long;
where all three are None, time_left_ms is what the clock shows for the rest of the game, so spend a share of it. A move
that takes far too long, crashes or is not legal loses the game at once. `report` is read by people and used for
adjudication: the score for the side to move in hundredths of a pawn or stone (a forced win is 100000 less the plies to
it), the nodes searched for this move, the best moves as a list of text."""
"""What engines of every game are told about limits: the end of a `GameTexts.signature`."""

BOOK_TEXT = """\
Games begin from openings of a book in place of random ones. Where one is a position, position.moves holds the moves
since then: those before are unknown."""
"""What builders are told of `arena.book`."""
RANDOM_TEXT = """\
A game begins after {plies} random moves, the same for both engines with colours changed; they are drawn anew for each
tournament. What an engine remembers of the game's own first moves is never asked for."""
"""What builders are told of random openings."""
JUDGED_TEXT = """\
Champion, runner-up and the new engines play a round robin: each pair {games} games, from {openings} openings, each
with both colours; a draw is half a point. {promotion} Elo is over all games of the search; its
interval is wide, so a difference within it is no news. At the end the champion is measured against {rivals} engines
that no tournament holds, beside the first champion: what beats its own relatives alone gains nothing there."""
PROMOTED = {
    "argmax": "Who has most points is the next champion, the second the next runner-up.",
    "los": "A new engine takes the title where its games with the champion make it stronger with 95 % likelihood.",
    "sprt": "A new engine takes the title where a sequential test accepts it as 60 Elo stronger than the champion.",
}
"""What builders are told of `arena.promotion`."""


@dataclass(frozen=True, slots=True)
class GameTexts:
    """What builders and users read about a game."""

    statement: str
    signature: str
    """How an engine is called, and what it may and must not do."""
    title: str
    """`a chess engine`: what an exported file calls itself."""
    sections: Mapping[str, str] = field(default_factory=dict)
    """Heading → text, further parts of a builder's prompt."""
    distributions: Mapping[str, str] = field(default_factory=dict)
    """Module → what `pip install` calls it, where the two differ."""


class ArenaProblem(Problem):
    """See `core.contracts.Problem`.

    Args:
        name: as in JSON.
        questions: asked a round; one engine is built for each.
        book: file of the user's openings (`arena.book`).
        plies: how many moves of each are taken; None: all.
    """

    lower_is_better = False
    unit = "Elo"
    family = "arena"
    seeds_search = True
    claims_only = False
    single_function = False
    reads = ("arena",)

    def __init__(
        self,
        name: str,
        spec: ArenaSpec,
        texts: GameTexts,
        rules: ArenaRules,
        *,
        settings: ArenaSettings,
        questions: int,
        book: str | None = None,
        plies: int | None = None,
    ) -> None:
        self.name = name
        self.spec = spec
        self.settings = settings
        self.preload = tuple(sorted(spec.packages))
        self._texts = texts
        self._questions = questions
        self._rules = rules
        self._book_file, self._plies = book, plies

    @property
    def unread(self) -> Mapping[str, str]:
        found = {**OF_COMPETITIONS, **OF_REPEATS, **OF_RUNGS, **OF_TUNING, **OF_LIMITS}
        limit = self.settings.limit
        if limit.kind in ("movetime", "clock"):
            found["arena.deadline"] = f"arena.limit={limit} is a time already"
        return found

    @shared_property
    def book(self) -> OpeningBook | None:
        """Openings of the user's own, read once; ConfigError for what is none of this game."""
        return read_book(self._book_file, self.spec.game, self._plies) if self._book_file else None

    @property
    def _book_path(self) -> Path | None:
        return user_path(self._book_file) if self._book_file else None

    @property
    def scoring_files(self) -> Mapping[str, Path]:
        """The book; of a user's game its rules, and the engines that others are measured by."""
        book = {} if self._book_path is None else {"arena.book": self._book_path}
        return book | {f"{GAME}{os.path.relpath(path, self.spec.inputs)}": path for path in self.spec.files}

    @property
    def hidden_files(self) -> tuple[Path, ...]:
        """The book: engines are not to know what the final part begins from."""
        return () if self._book_path is None else (self._book_path.resolve(),)

    def prepare(self) -> None:
        if self.spec.inputs is not None:
            try_rules(self.spec.game, TRIED_PLIES)
        if self.book is not None:
            self.book.check(self.settings.openings)

    @property
    def note(self) -> str:
        if self.book is None:
            return ""
        return f"{self.book.note}; {counted(len(self.book.part(True)), 'is', 'are')} held out for the final part"

    def statement(self) -> str:
        return self._texts.statement

    def prompt_extras(self) -> dict[str, Any]:
        limit = str(self.settings.limit)
        own = {"Openings": self._openings_text()} if self._book_file or self.spec.opening_plies else {}
        return {
            "signature": self._texts.signature,
            "allowed_imports": ", ".join(["the standard library", *sorted(self.spec.packages)]),
            "limit": limit,
            "categories": self._categories(),
            "sections": {
                **self._texts.sections, "How engines are judged": self._judged_text(), **own, "Limit of a move": limit
            },
        }  # fmt: skip

    def _judged_text(self) -> str:
        kept = self.settings
        return JUDGED_TEXT.format(
            games=kept.openings * kept.games,
            openings=kept.openings,
            promotion=PROMOTED[kept.promotion],
            rivals=len(self.spec.gauntlet),
        )

    def _categories(self) -> list[str]:
        """What a question may ask for. Prepared moves are worth something where games begin at the game's own first
        move, or at openings that come again; thrift with time where time is the limit of a move."""
        draws_anew = self.spec.opening_plies and not self._book_file
        is_timed = self.settings.limit.kind in ("movetime", "clock")
        return ["search", "evaluation", *([] if draws_anew else ["book"]), *(["time"] if is_timed else [])]

    def _openings_text(self) -> str:
        return BOOK_TEXT if self._book_file else RANDOM_TEXT.format(plies=self.spec.opening_plies)

    def agents(self, build: AgentBuilder) -> dict[str, Agent]:
        return {"*": BuilderAgent(questions=self._questions, prompts_dir=build.prompts_dir, **build.options)}

    def baselines(self) -> Sequence[Baseline]:
        return self.spec.baselines

    def rules(self) -> RulesWriter:
        return self._rules.starting_from(self.spec.anchor.code)

    def time_limit(self, limits: Limits) -> float | None:
        """None: what is measured is a whole tournament."""
        return None

    def run_limits(self, limits: Limits) -> Limits:
        """A run is a game: its engine's process has limits of its own."""
        return self.settings.session

    def limits(self, limits: Limits) -> Sequence[str]:
        kept = self.settings.limit.kind in ("nodes", "depth")
        hang = f", {self.settings.deadline:g} s a move: a longer one is a hang and loses" if kept else ""
        return [f"a run is one game of one process{hang}"]

    def evaluator(self, deps: EvaluatorDeps) -> Evaluator:
        return ArenaEvaluator(deps, replace(self.spec, book=self.book), self.settings)

    def export(self, node: Node, out: Path, run_dir: Path) -> list[Path]:
        """Write `engine.py`, the engine with its Position, and `games.pgn`, what it played.

        The file plays in `arena` and under programs that speak UCI about this game.
        """
        out.mkdir(parents=True, exist_ok=True)
        path = out / "engine.py"
        title = f"{engine_name(node.code) or 'engine'}, {self._texts.title}."
        imports = {*foreign_imports(self.spec.prelude), *foreign_imports(node.code)}
        needs = {name: self._texts.distributions.get(name, name) for name in imports}
        if needs:
            title += f" Needs: pip install {' '.join(sorted(needs.values()))}"
        path.write_text(standalone(node.code, self.spec.prelude, title, needs), encoding="utf-8")
        path.chmod(0o755)
        played = _games_of(node.id, run_dir)
        if not played:
            return [path]
        games = out / "games.pgn"
        games.write_text("\n".join(played), encoding="utf-8")
        return [path, games]


def arena_spec(folder: Path, entry: str, gauntlet: Mapping[str, str], packages: Collection[str] = ()) -> ArenaSpec:
    """What a game brings to the arena: `position.py` and `engines/` of its folder.

    Args:
        entry: `module:Class` of the Game.
        gauntlet: name → file in `engines/` of the engines that only claims are made against.
        packages: modules outside the standard library that candidates may import.
    """
    engines, file = folder / "engines", user_file(entry.partition(":")[0])
    if file is not None:
        entry = f"{file.name}:{entry.partition(':')[2]}"
    named = ("alpha_beta", "greedy", "random_mover", *gauntlet.values())
    return ArenaSpec(
        entry=entry,
        prelude=(folder / "position.py").read_text(encoding="utf-8"),
        packages=frozenset(packages),
        anchor=read_engine(engines, "alpha-beta", "alpha_beta"),
        rivals=(read_engine(engines, "greedy", "greedy"),),
        sparring=read_engine(engines, "random", "random_mover"),
        gauntlet=tuple(read_engine(engines, name, file) for name, file in gauntlet.items()),
        opening_plies=4,
        inputs=file and file.parent,
        files=(file, folder / "position.py", *(engines / f"{name}.py" for name in named)) if file else (),
    )


def build_arena(cfg: Config, name: str, spec: ArenaSpec, texts: GameTexts, rules: ArenaRules) -> ArenaProblem:
    """The problem as configured (`arena`, `search.batch`)."""
    settings = settings_of(cfg.arena)
    if spec.inputs is not None and cfg.execution.runner != "local":
        check_shippable(spec.inputs, "kind")
    plies = cfg.arena.plies
    return ArenaProblem(
        name,
        spec if plies is None else replace(spec, opening_plies=plies),
        texts,
        rules,
        settings=settings,
        questions=cfg.search.batch,
        book=cfg.arena.book,
        plies=plies,
    )


def _games_of(node_id: str, run_dir: Path) -> list[str]:
    """Every game of the run that the engine played, in PGN; [] where there is no store."""
    if not (run_dir / DB_NAME).is_file():
        return []
    with RunReader(run_dir) as reader:
        events = reader.events(limit=sys.maxsize, types=["game.finished", "generation.finished"])
    elo = newest_elo(event.ratings for event in events if isinstance(event, GenerationFinished))
    return [
        with_elo(event.pgn, elo.get(event.white), elo.get(event.black))
        for event in events
        if isinstance(event, GameFinished) and node_id in (event.white, event.black)
    ]
