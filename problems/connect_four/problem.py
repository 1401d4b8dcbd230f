"""Connect four: engines that play each other."""

from __future__ import annotations

from pathlib import Path

from core.arena.spec import ArenaSpec
from problems.arena_problem import LIMIT_TEXT, ArenaProblem, GameTexts, arena_spec, build_arena
from problems.connect_four.repertoire import RULES
from utils.config_schema import Config

STATEMENT = """\
Write an engine for connect four (7 columns, 6 rows, four in a row wins). Engines play each other; the metric is Elo \
above the first champion, an alpha-beta search that deepens while its limit lasts.
"""

SIGNATURE = f"""\
The file binds `engine`, an object with `name` (text) and `select_move(position, time_left_ms)`, which returns the
column to play as text, "1".."7". One process plays one game, so the engine may keep what it learned between its moves.

position.stones        (bitboard of the side to move, bitboard of the other); bit column * 7 + row, both from 0
position.legal_moves   columns with room, as text
position.moves         all moves so far, as text
position.apply(move)   the position after a move; the original is not changed
position.four(stones)  True if a bitboard holds four in a row
position.fen           the position as text
{LIMIT_TEXT}"""


def spec() -> ArenaSpec:
    """What connect four brings to the arena."""
    gauntlet = {"line counter 3": "gauntlet_counter", "rollouts 120": "gauntlet_rollouts"}
    return arena_spec(Path(__file__).parent, "problems.connect_four.game:ConnectFour", gauntlet)


def build(cfg: Config, project_dir: Path) -> ArenaProblem:
    """The problem as configured."""
    texts = GameTexts(STATEMENT, SIGNATURE, "a connect-four engine")
    return build_arena(cfg, "connect_four", spec(), texts, RULES)
