"""Connect four: positions counted against OEIS, wins against a naive search."""

from __future__ import annotations

import random

import pytest

from problems.connect_four.game import ConnectFour
from problems.connect_four.position import Position

GAME = ConnectFour()


@pytest.mark.long
def test_positions_after_n_plies_as_in_oeis_a212693():
    states, counts = {Position().stones: Position()}, []
    for _ in range(8):
        counts.append(len(states))
        following = [GAME.apply(s, m) for s in states.values() for m in GAME.legal(s)]
        states = {s.stones: s for s in following}
    assert counts == [1, 7, 49, 238, 1120, 4263, 16422, 54859]


def perft(state: Position, depth: int) -> int:
    if depth == 0:
        return 1
    return sum(perft(GAME.apply(state, move), depth - 1) for move in GAME.legal(state))


def test_perft():
    """7^n until the seventh stone cannot enter a full column."""
    assert [perft(GAME.initial(), depth) for depth in range(7)] == [1, 7, 49, 343, 2401, 16807, 117649]
    assert perft(GAME.initial(tuple("444444")), 1) == 6


def naive_four(fen: str, mark: str) -> bool:
    board = [[cell for c in row for cell in ("." * int(c) if c.isdigit() else c)] for row in fen.split()[0].split("/")]
    for row in range(6):
        for column in range(7):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + i * down, column + i * right) for i in range(4)]
                if all(0 <= r < 6 and 0 <= c < 7 and board[r][c] == mark for r, c in cells):
                    return True
    return False


def test_wins_agree_with_a_naive_search_over_random_games():
    rng, decided = random.Random(1), 0
    for _ in range(150):
        state = GAME.initial()
        while (ended := GAME.outcome(state)) is None:
            state = GAME.apply(state, rng.choice(GAME.legal(state)))
        fen = GAME.text(state)
        expected = "1-0" if naive_four(fen, "x") else "0-1" if naive_four(fen, "o") else "1/2-1/2"
        assert ended[0] == expected, fen
        assert ended[1] == ("board_full" if expected == "1/2-1/2" else "four_in_a_row")
        assert GAME.legal(state) == []
        decided += expected != "1/2-1/2"
    assert decided > 100


@pytest.mark.parametrize(
    ("moves", "fen"),
    [("", "7/7/7/7/7/7 x"), ("4", "7/7/7/7/7/3x3 o"), ("44", "7/7/7/7/3o3/3x3 x"), ("1717", "7/7/7/7/x5o/x5o x")],
)
def test_text(moves, fen):
    assert GAME.text(GAME.initial(tuple(moves))) == fen


def test_an_opening_with_an_illegal_move_is_refused():
    with pytest.raises(ValueError, match="move 4 is not legal"):
        GAME.initial(tuple("4444444"))


def test_a_position_never_changes():
    state = GAME.initial(("4",))
    before = (state.stones, state.moves, hash(state))
    GAME.apply(state, "3")
    assert (state.stones, state.moves, hash(state)) == before
