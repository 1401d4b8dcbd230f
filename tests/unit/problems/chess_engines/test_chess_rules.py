"""Chess rules: perft against the published figures (chessprogramming.org, Perft Results), SAN read back."""

from __future__ import annotations

import random

import pytest
import rust_chess

from problems.chess_engines.game import Chess
from problems.chess_engines.position import Position

GAME = Chess()
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
PERFT = [
    (START, [20, 400, 8902, 197281]),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", [48, 2039, 97862]),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", [14, 191, 2812, 43238]),
    ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", [6, 264, 9467]),
    ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", [44, 1486, 62379]),
    ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", [46, 2079, 89890]),
]


def perft(state, depth: int) -> int:
    if depth == 1:
        return len(GAME.legal(state))
    return sum(perft(GAME.apply(state, move), depth - 1) for move in GAME.legal(state))


@pytest.mark.parametrize(("fen", "counts"), PERFT)
def test_perft(fen, counts):
    state = Position.from_fen(fen)
    assert [perft(state, depth + 1) for depth in range(len(counts))] == counts


def play(*moves: str):
    return GAME.initial(moves)


def test_fools_mate():
    state = play("f2f3", "e7e5", "g2g4", "d8h4")
    assert GAME.outcome(state) == ("0-1", "checkmate")


def test_stalemate():
    assert GAME.outcome(Position.from_fen("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")) == ("1/2-1/2", "stalemate")


HOME = "r3k2r/8/8/8/8/8/8/R3K2R"


@pytest.mark.parametrize(("fen", "read"), [
    (f"{HOME} w KQkq -", f"{HOME} w KQkq - 0 1"),
    (f"{HOME}  w  HAha  -  3  9", f"{HOME} w KQkq - 3 9"),
    ("4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
    ("r4k2/8/8/8/8/8/8/R3K3 b KQkq - 0 1", "r4k2/8/8/8/8/8/8/R3K3 b Q - 0 1"),
    (f"{HOME} w - - 7 300", f"{HOME} w - - 7 44"),
    (f"{HOME} b Kq - 400 256", f"{HOME} b Kq - 150 0"),
])  # fmt: skip
def test_positions_that_other_programs_write_are_read(fen, read):
    """Rights without a rook and moves beyond the 255th were refused with words of something else."""
    position = Position.from_fen(fen)
    assert position.fen == read
    assert position.apply(position.legal_moves[0]).legal_moves is not None


@pytest.mark.parametrize("fen", [
    "", "startpos", HOME, f"{HOME} w KQkq - a b", f"{HOME} w KQkq - 0 1 bm e4;", "8/8/8/8/8/8/8/8 w KQkq - 0 1",
    f"{HOME}/8 w KQkq - 0 1", f"{HOME[:-1]} w KQkq - 0 1", "/ w KQkq - 0 1", "9/ w KQkq - 0 ١",
])  # fmt: skip
def test_what_is_no_position_is_a_value_error(fen):
    with pytest.raises(ValueError, match=r"FEN|Invalid"):
        Position.from_fen(fen)


def test_third_repetition_is_a_draw_at_once():
    shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"] * 2
    assert GAME.outcome(play(*shuffle[:-1])) is None
    assert GAME.outcome(play(*shuffle)) == ("1/2-1/2", "repetition")


def test_repetitions_count_from_a_position_that_a_game_begins_from():
    """Where the moves before are unknown, as with an older halfmove clock, rust-chess would end the process."""
    rooks = "4k2r/8/8/8/8/8/8/R3K3 w - -"
    opening = [f"fen {GAME.read_position(rooks)}", *["a1b1", "h8g8", "b1a1", "g8h8"] * 2]
    assert GAME.outcome(GAME.initial(opening[:-1])) is None
    assert GAME.outcome(GAME.initial(opening)) == ("1/2-1/2", "repetition")
    old = Position.from_fen(f"{rooks} 30 40")
    for move in opening[1:]:
        old = old.apply(move)
        assert GAME.outcome(old) is None


def test_fifty_moves_and_bare_kings():
    assert GAME.outcome(Position.from_fen("7k/8/8/8/8/8/R7/K7 w - - 100 90")) == ("1/2-1/2", "fifty_moves")
    assert GAME.outcome(Position.from_fen("7k/8/8/8/8/8/8/K7 w - - 0 90")) == ("1/2-1/2", "insufficient_material")


def test_mate_counts_before_the_fifty_moves():
    assert GAME.outcome(Position.from_fen("R6k/6pp/8/8/8/8/8/K7 b - - 100 90"))[1] == "checkmate"


def test_en_passant_square_stands_behind_the_pawn():
    """rust-chess writes the pawn's own square; the standard and other programs want the one behind."""
    state = play("e2e4", "a7a6", "e4e5", "d7d5")
    assert GAME.text(state) == "rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3"
    assert "e5d6" in GAME.legal(state)


def dialect(state, move: str, san: str) -> str:
    """The PGN standard's SAN as rust-chess reads it: `c8Q` for `c8=Q`, `exd6 e.p.` for a capture in passing."""
    in_passing = " e.p." if state.board.is_en_passant(rust_chess.Move(move)) else ""
    return san.replace("=", "").rstrip("+#") + in_passing


@pytest.mark.long
def test_san_is_read_back_as_the_same_move_in_random_games():
    rng, seen = random.Random(3), set()
    for _ in range(25):
        state = GAME.initial()
        while GAME.outcome(state) is None and len(state.moves) < 160:
            for move in GAME.legal(state):
                san = GAME.san(state, move)
                assert state.board.get_move_from_san(dialect(state, move, san)) == rust_chess.Move(move), state.fen
                seen |= set(san) & set("xO=+#")
            state = GAME.apply(state, rng.choice(GAME.legal(state)))
    assert seen == set("xO=+#")


@pytest.mark.parametrize(
    ("fen", "move", "san"),
    [
        (START, "g1f3", "Nf3"),
        ("4k3/8/8/8/8/8/4K3/R6R w - - 0 1", "a1d1", "Rad1"),
        ("R7/8/8/8/8/4k3/8/R3K3 w - - 0 1", "a1a4", "R1a4"),
        ("6k1/8/8/8/Q6Q/8/4K3/Q7 w - - 0 1", "a4d4", "Qa4d4"),
        ("k7/4P3/8/8/8/8/8/K7 w - - 0 1", "e7e8q", "e8=Q+"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1", "O-O-O"),
        ("6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1", "a1a8", "Ra8#"),
        ("rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3", "e5d6", "exd6"),
    ],
)
def test_san(fen, move, san):
    assert GAME.san(Position.from_fen(fen), move) == san


def test_an_illegal_opening_is_refused():
    with pytest.raises(ValueError):
        play("e2e5")
