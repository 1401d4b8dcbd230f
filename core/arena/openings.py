"""Openings: where games begin, so that two deterministic engines do not play one game over and over."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Any

from core.arena.rules import outcome_of
from core.contracts import OTHER_START, Game
from utils.counts import counted
from utils.errors import ConfigError

MOST_BARREN = 3000
"""Random lines in a row that bring nothing new before the game is said to have no more openings."""


def draw_openings(
    game: Game,
    count: int,
    *,
    plies: int,
    seed: int,
    held_out: bool = False,
    fewer: bool = False,
    without: Collection[tuple[str, ...]] = (),
) -> list[tuple[str, ...]]:
    """`count` different openings of `plies` random legal moves, none with a win in one or decided as the game knows.

    No two lead to the same position. Positions fall into two parts by their hash, selection's and the held-out part
    (one in four), so that claims are made on openings that selection never saw.

    Args:
        fewer: return what there is where the game has fewer.
        without: openings whose positions are not wanted again.
    Raises:
        ConfigError: the game has fewer different openings of that length.
    """
    rng = random.Random(seed)
    found: dict[str, tuple[str, ...]] = {}
    known = {game.text(game.initial(line)) for line in without}
    barren = 0
    while len(found) < count and barren < MOST_BARREN:
        line = _random_line(game, plies, rng)
        barren += 1
        if line is None:
            continue
        state = game.initial(line)
        text = game.text(state)
        if text in known:
            continue
        known.add(text)
        if in_held_out_part(text) == held_out and is_open(game, state):
            found[text] = line
            barren = 0
    if len(found) < count and not fewer:
        raise ConfigError(
            f"arena.openings={count}: {game.name} has too few openings of {counted(plies, 'ply', 'plies')}, "
            f"{counted(len(found), 'was', 'were')} found"
        )
    return list(found.values())


def opening_parts(opening: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    """(the position that it begins from, None for the game's own start; its moves)."""
    if opening and opening[0].startswith(OTHER_START):
        return opening[0].removeprefix(OTHER_START), opening[1:]
    return None, opening


def in_held_out_part(text: str) -> bool:
    """True for one position in four: those that only final matches begin from. A function of the position alone."""
    return blake2b(text.encode(), digest_size=1).digest()[0] % 4 == 0


def _random_line(game: Game, plies: int, rng: random.Random) -> tuple[str, ...] | None:
    """Random legal moves; None if the game ends on the way."""
    state, line = game.initial(), []
    for _ in range(plies):
        if outcome_of(game, state) is not None:
            return None
        move = rng.choice(list(game.legal(state)))
        line.append(move)
        state = game.apply(state, move)
    return tuple(line)


def is_open(game: Game, state: Any) -> bool:
    """The game goes on, the side to move cannot win with one move, and the game knows no side that wins by force."""
    if game.outcome(state) is not None:
        return False
    replies = (game.outcome(game.apply(state, move)) for move in game.legal(state))
    return all(ended is None or ended[0] == "1/2-1/2" for ended in replies) and not game.decided(state)
