"""Connect four: engines that play each other."""

from __future__ import annotations

from pathlib import Path

from core.arena.setup import read_engine, settings_of
from core.arena.spec import ArenaSpec
from problems.arena_problem import ArenaProblem, GameTexts
from problems.connect_four.repertoire import rules
from utils.config_schema import Config

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

The process may not start threads. Keep within the limit: count one node for each position searched. A move that takes
far too long, crashes or is not legal loses the game at once. `engine.score`, if set, is the engine's own estimate and
is only used for adjudication."""


def spec() -> ArenaSpec:
    """What connect four brings to the arena."""
    return ArenaSpec(
        entry="problems.connect_four.game:ConnectFour",
        prelude=(HERE / "position.py").read_text(encoding="utf-8"),
        packages=frozenset(),
        anchor=read_engine(ENGINES, "alpha-beta 2", "alpha_beta"),
        rivals=(read_engine(ENGINES, "greedy", "greedy"),),
        sparring=read_engine(ENGINES, "random", "random_mover"),
        gauntlet=(
            read_engine(ENGINES, "line counter 3", "gauntlet_counter"),
            read_engine(ENGINES, "rollouts 120", "gauntlet_rollouts"),
        ),
        opening_plies=4,
    )


def build(cfg: Config, project_dir: Path) -> ArenaProblem:
    """The problem as configured (`arena`, `search.questions`)."""
    texts = GameTexts(STATEMENT, SIGNATURE, "a connect-four engine")
    return ArenaProblem(
        "connect_four", spec(), texts, settings=settings_of(cfg.arena), questions=cfg.search.questions, rules=rules
    )
