from __future__ import annotations

import pytest

from core.arena.openings import draw_openings, in_held_out_part
from problems.chess_engines.game import Chess
from problems.connect_four.game import ConnectFour
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


def test_same_seed_same_openings():
    draws = [draw_openings(ConnectFour(), 6, plies=4, seed=seed) for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


def test_selection_and_claims_never_share_a_position():
    game = ConnectFour()
    ours = {game.text(game.initial(line)) for line in draw_openings(game, 60, plies=4, seed=3)}
    held = {game.text(game.initial(line)) for line in draw_openings(game, 60, plies=4, seed=3, held_out=True)}
    assert not ours & held
    assert all(in_held_out_part(text) for text in held) and not any(in_held_out_part(text) for text in ours)


def test_a_book_comes_before_random_lines():
    book = [("4", str(column)) for column in range(1, 8)]
    lines = draw_openings(ConnectFour(), 4, plies=2, seed=1, book=book)
    assert set(lines) <= set(book)


def test_too_few_openings_is_said():
    with pytest.raises(ConfigError, match=r"arena\.openings=8: .*too few openings of 1 plies"):
        draw_openings(ConnectFour(), 8, plies=1, seed=1)
    assert 0 < len(draw_openings(ConnectFour(), 8, plies=1, seed=1, fewer=True)) < 8
