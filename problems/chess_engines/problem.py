"""Chess: engines that play each other."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from core.arena.spec import ArenaSpec
from problems.arena_problem import LIMIT_TEXT, ArenaProblem, GameTexts, arena_spec, build_arena
from problems.chess_engines.libraries import board_libraries
from problems.chess_engines.repertoire import RULES
from utils.config_schema import Config

STATEMENT = """\
Write an engine for chess. Engines play each other from random openings; the metric is Elo above the first champion, \
an alpha-beta search that deepens while its limit lasts and counts material.
"""

SIGNATURE = f"""\
The file binds `engine`, an object with `name` (text) and `select_move(position, time_left_ms)`, which returns a legal
move in UCI notation ("e2e4", "e7e8q"). One process plays one game, so the engine may keep what it learned so far.

position.board         a rust_chess.Board; treat it as read-only
position.fen           the position in FEN
position.legal_moves   legal moves in UCI notation
position.moves         all moves so far in UCI notation
position.apply(move)   the position after a move; the original is not changed
{LIMIT_TEXT} Import what you use."""

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


PYTHON_CHESS = """\
python-chess is installed too. `board = chess.Board(position.fen)` is the position; repetitions are seen by a board that
was kept from move to move, or by `for move in position.moves: board.push_uci(move)` from the start position. It is some
20 times slower than rust_chess; what counts is the strength at the limit of a move."""

SECTIONS = {"rust_chess": RUST_CHESS, "chess": PYTHON_CHESS}
"""Board library that candidates may import → what builders are told of it."""


def spec(packages: Collection[str] = ("rust_chess",)) -> ArenaSpec:
    """What chess brings to the arena.

    Args:
        packages: board libraries that candidates may import.
    """
    gauntlet = {"placement 1q": "gauntlet_placement", "mobility 2": "gauntlet_mobility"}
    return arena_spec(Path(__file__).parent, "problems.chess_engines.game:Chess", gauntlet, packages)


def build(cfg: Config, project_dir: Path) -> ArenaProblem:
    """The problem as configured; `execution.python` decides which board libraries there are."""
    libraries = board_libraries(cfg.execution.python)
    sections = {name: SECTIONS[name] for name in libraries}
    texts = GameTexts(STATEMENT, SIGNATURE, "a chess engine", sections, {"rust_chess": "rust-chess"})
    return build_arena(cfg, "chess_engines", spec(libraries), texts, RULES)
