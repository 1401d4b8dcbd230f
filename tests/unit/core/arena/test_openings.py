from __future__ import annotations

import random

import pytest

from core.arena.openings import draw_openings, in_held_out_part
from problems.chess_engines.game import Chess
from problems.connect_four.game import ConnectFour
from problems.connect_four.position import Position as FourPosition
from problems.connect_four.solver import forced_result
from utils.errors import ConfigError


@pytest.mark.parametrize(("game", "plies"), [(ConnectFour(), 4), (Chess(), 4), (ConnectFour(), 7)])
def test_openings_are_legal_different_and_undecided(game, plies):
    lines = draw_openings(game, 12, plies=plies, seed=1)
    states = [game.initial(line) for line in lines]
    assert len({game.text(state) for state in states}) == 12
    for state in states:
        assert game.outcome(state) is None
        ended = [game.outcome(game.apply(state, move)) for move in game.legal(state)]
        assert all(end is None or end[0] == "1/2-1/2" for end in ended)


FORCED = (("6", "2", "5", "6"), ("3", "3", "5", "5"))
"""Wins in three plies that were dealt once: 24 of 72 games of a generation were one game."""


@pytest.mark.parametrize("line", FORCED)
def test_a_forced_win_is_seen(line):
    game = ConnectFour()
    assert game.decided(game.initial(line)) and not game.decided(game.initial(("4", "4", "4", "4")))


@pytest.mark.long
def test_the_solver_agrees_with_a_plain_search():
    """Against negamax without any pruning by threats, over positions of all ages."""
    rng, seen = random.Random(5), set()
    for _ in range(60):
        position = FourPosition()
        for _ in range(rng.randrange(4, 22)):
            if not position.legal_moves:
                break
            position = position.apply(rng.choice(position.legal_moves))
        if position.legal_moves:
            for plies in (1, 2, 3, 4, 5):
                expected = plainly(position, plies)
                assert forced_result(*position.stones, plies) == expected, (position.moves, plies)
                seen.add((plies, expected))
    assert {(1, 1), (2, -1), (3, 1), (4, -1), (5, 1)} <= seen


def plainly(position: FourPosition, plies: int) -> int:
    if FourPosition.four(position.stones[1]):
        return -1
    if plies == 0 or not position.legal_moves:
        return 0
    return max(-plainly(position.apply(move), plies - 1) for move in position.legal_moves)


@pytest.mark.parametrize("held_out", [False, True])
def test_no_opening_of_connect_four_is_a_forced_win(held_out):
    game = ConnectFour()
    for seed in (1, 42):
        for line in draw_openings(game, 40, plies=4, seed=seed, held_out=held_out):
            assert forced_result(*game.initial(line).stones, 8) == 0, line


@pytest.mark.parametrize(
    ("line", "decided"),
    [
        (("e2e4", "e7e5", "d1h5", "e8e7"), True),  # mate in one
        (("d2d4", "e7e5", "d1d3", "d8g5"), True),  # the queen can be taken for nothing
        (("f2f3", "e7e5", "g1h3", "d8h4"), False),
        (("e2e4", "e7e5", "g1f3", "b8c6"), False),
        (("e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "a7a6"), True),  # scholar's mate
    ],
)
def test_a_lost_piece_or_a_mate_is_seen(line, decided):
    game = Chess()
    assert game.decided(game.initial(line)) is decided


def test_same_seed_same_openings():
    draws = [draw_openings(ConnectFour(), 6, plies=4, seed=seed) for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


def test_selection_and_claims_never_share_a_position():
    game = ConnectFour()
    ours = {game.text(game.initial(line)) for line in draw_openings(game, 60, plies=4, seed=3)}
    held = {game.text(game.initial(line)) for line in draw_openings(game, 60, plies=4, seed=3, held_out=True)}
    assert not ours & held
    assert all(in_held_out_part(text) for text in held) and not any(in_held_out_part(text) for text in ours)


def test_too_few_openings_is_said():
    with pytest.raises(ConfigError, match=r"arena\.openings=8: .*too few openings of 1 ply"):
        draw_openings(ConnectFour(), 8, plies=1, seed=1)
    assert 0 < len(draw_openings(ConnectFour(), 8, plies=1, seed=1, fewer=True)) < 8
