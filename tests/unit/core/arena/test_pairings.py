"""Who meets whom, and what names a game."""

from __future__ import annotations

from arena_support import engine, four_settings, four_spec

from core.arena.match import Engine
from core.arena.pairings import game_key, round_robin


def pairings():
    engines = [
        Engine(id=name, name=name, code=engine(f"return position.legal_moves[{i}]")) for i, name in enumerate("abc")
    ]
    openings = [("1", "2"), ("3", "4")]
    return round_robin(engines, openings, games=2, seed=1, spec=four_spec(), settings=four_settings())


def test_every_pair_meets_with_both_colours_from_each_opening():
    played = [(p.match.white.id, p.match.black.id, p.match.opening) for p in pairings()]
    assert len(played) == len(set(played)) == 3 * 2 * 2
    assert ("a", "b", ("1", "2")) in played and ("b", "a", ("1", "2")) in played


def test_a_game_is_named_by_all_that_decides_it():
    match = pairings()[0].match
    keys = {game_key(match, "rated"), game_key(match, "final")}
    changes = [{"seed": 5}, {"opening": ("7",)}, {"limit": "depth:3"}, {"white": match.black}, {"deadline": 1.0}]
    keys |= {game_key(match.model_copy(update=change), "rated") for change in changes}
    assert len(keys) == 7
    renamed = match.model_copy(update={"white": match.white.model_copy(update={"id": "z", "name": "z"}), "spool": "/x"})
    assert game_key(renamed, "rated") == game_key(match, "rated")
