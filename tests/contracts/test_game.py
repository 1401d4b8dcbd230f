"""What every Game must do. A new game registers by one line in GAMES."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arena.seat import Limit
from core.contracts import OTHER_START, Game
from problems.chess_engines.game import Chess
from problems.chess_engines.position import Position as ChessPosition
from problems.connect_four.game import ConnectFour
from problems.connect_four.position import Position as FourPosition

GAMES: dict[str, tuple[Callable[[], Game], type]] = {
    "connect_four": (ConnectFour, FourPosition),
    "chess": (Chess, ChessPosition),
}


@pytest.fixture(params=list(GAMES))
def pair(request) -> tuple[Game, type]:
    make, position = GAMES[request.param]
    return make(), position


def random_line(game: Game, seed: int, length: int) -> list[str]:
    rng, state, line = random.Random(seed), game.initial(), []
    while len(line) < length and game.outcome(state) is None:
        line.append(rng.choice(list(game.legal(state))))
        state = game.apply(state, line[-1])
    return line


@pytest.mark.parametrize("name", list(GAMES))
@given(seed=st.integers(0, 2**32), length=st.integers(0, 120))
def test_laws_of_a_line(name, seed, length):
    make, position = GAMES[name]
    game = make()
    line = random_line(game, seed, length)
    state, mirror = game.initial(), position(limit=Limit(depth=1))
    for move in line:
        before = game.text(state), hash(state), list(game.legal(state))
        after = game.apply(state, move)
        assert (game.text(state), hash(state), list(game.legal(state))) == before, "a state may not change"
        assert move in before[2] and game.san(state, move)
        assert game.to_move(state) in (0, 1)
        state, mirror = after, mirror.apply(move)
    # the engine's own Position sees what the referee sees, and keeps its limit
    assert (mirror.fen == game.text(state) and mirror.legal_moves == list(game.legal(state))) or game.outcome(state)
    assert mirror.limit.depth == 1 and list(mirror.moves) == line
    assert game.text(game.initial(line)) == game.text(state) and hash(game.initial(line)) == hash(state)


def test_a_finished_game_names_its_end_and_a_game_comes_to_one(pair):
    game, _ = pair
    for seed in range(8):
        line = random_line(game, seed, 2000)
        ended = game.outcome(game.initial(line))
        assert ended is not None and ended[0] in ("1-0", "0-1", "1/2-1/2") and ended[1]


def test_legal_moves_are_distinct_and_in_a_fixed_order(pair):
    game, _ = pair
    for seed in range(5):
        state = game.initial(random_line(game, seed, 10))
        moves = list(game.legal(state))
        assert len(set(moves)) == len(moves) and moves == list(game.legal(state))


def test_every_move_is_read_as_people_write_it(pair):
    game, _ = pair
    for seed in range(6):
        state = game.initial(random_line(game, seed, 20 * seed))
        for move in game.legal(state):
            san = game.san(state, move)
            assert (san if san in game.legal(state) else game.read_move(state, san)) == move
        assert game.read_move(state, "no move") is None


def test_a_position_begins_the_game_that_goes_on_from_it_or_none_does(pair):
    game, _ = pair
    for seed in range(12):
        state = game.initial(random_line(game, seed, 9 * seed))
        try:
            start = game.read_position(game.text(state))
        except ValueError as error:
            assert game.name == "connect_four" and "start position alone" in str(error)
            continue
        begun = game.initial([f"{OTHER_START}{start}"])
        assert game.text(begun) == start == game.read_position(start)
        assert list(game.legal(begun)) == list(game.legal(state)) and game.to_move(begun) == game.to_move(state)
        for move in list(game.legal(state))[:3]:
            assert game.initial([f"{OTHER_START}{start}", move]) == game.apply(begun, move)
    with pytest.raises(ValueError):
        game.initial([f"{OTHER_START}no position"])


def test_text_tells_positions_apart(pair):
    game, _ = pair
    first = {game.text(game.apply(game.initial(), move)) for move in game.legal(game.initial())}
    assert len(first) == len(game.legal(game.initial()))


def test_games_have_names_of_their_own():
    assert {make().name for make, _ in GAMES.values()} == set(GAMES)
