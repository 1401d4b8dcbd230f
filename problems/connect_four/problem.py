"""Connect four: engines that play each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.builder_agent import BuilderAgent
from core.arena.evaluator import ArenaEvaluator
from core.arena.export import standalone
from core.arena.gate import engine_name
from core.arena.setup import read_engine, settings_of
from core.arena.spec import ArenaSettings, ArenaSpec
from core.contracts import Agent, AgentBuilder, Baseline, Bench, Evaluator, RulesWriter
from core.state.node import Node
from problems.connect_four.repertoire import rules

HERE = Path(__file__).parent
ENGINES = HERE / "engines"

STATEMENT = """\
Write an engine for connect four (7 columns, 6 rows, four in a row wins). Engines play each other; the metric is Elo \
above the first champion, an alpha-beta search of two plies.
"""

SIGNATURE = """\
The file binds `engine`, an object with `name` (text) and `select_move(position, time_left_ms)`, which returns the
column to play as text, "1".."7". One process plays one game, so the engine may keep what it learned between its moves.

position.stones        (bitboard of the side to move, bitboard of the other); bit column * 7 + row, both from 0
position.legal_moves   columns with room, as text
position.moves         all moves so far, as text
position.apply(move)   the position after a move; the original is not changed
position.four(stones)  True if a bitboard holds four in a row
position.fen           the position as text
position.limit         .nodes, .depth, .milliseconds: what this move may cost; None where it does not apply

The process may not start threads. Keep within the limit: count one node for each position searched.
A move that takes far too long, crashes or is not
legal loses the game at once. `engine.score`, if set, is the engine's own estimate and is only used for adjudication."""


def spec() -> ArenaSpec:
    """What connect four brings to the arena."""
    return ArenaSpec(
        entry="problems.connect_four.game:ConnectFour",
        prelude=(HERE / "position.py").read_text(encoding="utf-8"),
        packages=frozenset(),
        anchor=read_engine(ENGINES, "alpha-beta 2", "alpha_beta"),
        sparring=read_engine(ENGINES, "random", "random_mover"),
        gauntlet=(
            read_engine(ENGINES, "line counter 3", "gauntlet_counter"),
            read_engine(ENGINES, "rollouts 120", "gauntlet_rollouts"),
        ),
        opening_plies=4,
    )


class ConnectFourProblem:
    """See `core.contracts.Problem`."""

    name = "connect_four"
    lower_is_better = False
    unit = "Elo"
    family = "arena"
    preload: tuple[str, ...] = ()
    seeds_search = True
    claims_only = False
    single_function = False

    def __init__(self, settings: ArenaSettings, questions: int) -> None:
        self.settings = settings
        self._questions = questions
        self.spec = spec()

    def prepare(self) -> None:
        """Nothing to prepare: the rules of the game are here."""

    def statement(self) -> str:
        return STATEMENT

    def preview(self) -> str:
        return ""

    def prompt_extras(self) -> dict[str, Any]:
        return {
            "signature": SIGNATURE,
            "allowed_imports": "the standard library",
            "limit": str(self.settings.limit),
            "sections": {"Limit of a move": str(self.settings.limit)},
        }

    def agents(self, build: AgentBuilder) -> dict[str, Agent]:
        return {"*": BuilderAgent(questions=self._questions, prompts_dir=build.prompts_dir, **build.options)}

    def baselines(self) -> Sequence[Baseline]:
        return (self.spec.anchor, read_engine(ENGINES, "greedy", "greedy"), self.spec.sparring)

    def rules(self) -> RulesWriter:
        return rules()

    def evaluator(self, bench: Bench) -> Evaluator:
        return ArenaEvaluator(bench, self.spec, self.settings)

    def export(self, node: Node, out: Path, run_dir: Path) -> list[Path]:
        """`engine.py`: the engine with its Position, playable by `arena` and by UCI-speaking programs of this game."""
        path = out / "engine.py"
        title = f"{engine_name(node.code) or 'engine'}, a connect-four engine"
        path.write_text(standalone(node.code, self.spec.prelude, title), encoding="utf-8")
        return [path]


def build(cfg: Any, project_dir: Path) -> ConnectFourProblem:
    """The problem as configured (`arena`, `search.questions`)."""
    return ConnectFourProblem(settings_of(cfg.arena), cfg.search.questions)
