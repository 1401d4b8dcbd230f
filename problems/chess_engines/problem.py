"""Chess: engines that play each other."""

from __future__ import annotations

import importlib.util
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
from problems.chess_engines.repertoire import rules

HERE = Path(__file__).parent
ENGINES = HERE / "engines"

STATEMENT = """\
Write an engine for chess. Engines play each other from random openings; the metric is Elo above the first champion, \
an alpha-beta search of two plies that counts material.
"""

SIGNATURE = """\
The file binds `engine`, an object with `name` (text) and `select_move(position, time_left_ms)`, which returns a legal
move in UCI notation ("e2e4", "e7e8q"). One process plays one game, so the engine may keep what it learned so far.

position.board         a rust_chess.Board; treat it as read-only
position.fen           the position in FEN
position.legal_moves   legal moves in UCI notation
position.moves         all moves so far in UCI notation
position.apply(move)   the position after a move; the original is not changed
position.limit         .nodes, .depth, .milliseconds: what this move may cost; None where it does not apply

The process may not start threads. Keep within the limit: count one node for each position searched.
A move that takes far too long, crashes or is not
legal loses the game at once. `engine.score`, if set, is the engine's own estimate in centipawns for its side; it is
only used for adjudication. Import what you use."""

RUST_CHESS = """\
rust_chess is not python-chess. What engines need of it:
board.reset_move_generator(); moves = list(board.generate_legal_moves())   Move objects; move.get_uci(), .source, .dest
board.generate_legal_captures()          after reset_move_generator(): captures only
board.make_move_new(move, False)         a new board after a legal move (0.2 microseconds); rust_chess.Move("e2e4")
board.turn == rust_chess.WHITE           board.is_check(), is_checkmate(), is_stalemate(), is_n_repetition(2)
board.get_status()                       rust_chess.BoardStatus.ONGOING, CHECKMATE, STALEMATE, ...
board.get_piece_type_bitboard(rust_chess.PAWN).to_uint()   an int: bit 0 is a1, bit 63 h8; also KNIGHT, ...
board.get_color_bitboard(rust_chess.WHITE).to_uint()
board.get_piece_type_on(square), board.is_capture(move), board.zobrist_hash, board.halfmove_clock
Go on from position.board: a Board made from a FEN does not know the moves before, and asking it for its status or for
repetitions ends the process."""


def packages() -> tuple[str, ...]:
    """Board libraries that candidates may import: rust_chess, and python-chess where it is installed."""
    return ("rust_chess", *(("chess",) if importlib.util.find_spec("chess") else ()))


def spec() -> ArenaSpec:
    """What chess brings to the arena."""
    return ArenaSpec(
        entry="problems.chess_engines.game:Chess",
        prelude=(HERE / "position.py").read_text(encoding="utf-8"),
        packages=frozenset(packages()),
        anchor=read_engine(ENGINES, "alpha-beta 2", "alpha_beta"),
        sparring=read_engine(ENGINES, "random", "random_mover"),
        gauntlet=(
            read_engine(ENGINES, "placement 1q", "gauntlet_placement"),
            read_engine(ENGINES, "mobility 2", "gauntlet_mobility"),
        ),
        opening_plies=4,
    )


class ChessProblem:
    """See `core.contracts.Problem`."""

    name = "chess_engines"
    lower_is_better = False
    unit = "Elo"
    family = "arena"
    seeds_search = True
    claims_only = False
    single_function = False

    def __init__(self, settings: ArenaSettings, questions: int) -> None:
        self.settings = settings
        self.questions = questions
        self.spec = spec()
        self.preload = packages()

    def prepare(self) -> None:
        """Nothing to prepare: the rules of the game are in a library."""

    def statement(self) -> str:
        return STATEMENT

    def preview(self) -> str:
        return ""

    def prompt_extras(self) -> dict[str, Any]:
        return {
            "signature": SIGNATURE,
            "allowed_imports": ", ".join(["the standard library", *packages()]),
            "limit": str(self.settings.limit),
            "sections": {"rust_chess": RUST_CHESS, "Limit of a move": str(self.settings.limit)},
        }

    def agents(self, build: AgentBuilder) -> dict[str, Agent]:
        return {"*": BuilderAgent(questions=self.questions, prompts_dir=build.prompts_dir, **build.options)}

    def baselines(self) -> Sequence[Baseline]:
        return (self.spec.anchor, read_engine(ENGINES, "greedy", "greedy"), self.spec.sparring)

    def rules(self) -> RulesWriter:
        return rules()

    def evaluator(self, bench: Bench) -> Evaluator:
        return ArenaEvaluator(bench, self.spec, self.settings)

    def export(self, node: Node, out: Path, run_dir: Path) -> list[Path]:
        """`engine.py`: a standalone UCI engine; it needs Python 3.11 and `pip install rust-chess`."""
        path = out / "engine.py"
        title = f"{engine_name(node.code) or 'engine'}, a chess engine. Needs: pip install rust-chess"
        path.write_text(standalone(node.code, self.spec.prelude, title), encoding="utf-8")
        return [path]


def build(cfg: Any, project_dir: Path) -> ChessProblem:
    """The problem as configured (`arena`, `search.questions`)."""
    return ChessProblem(settings_of(cfg.arena), cfg.search.questions)
