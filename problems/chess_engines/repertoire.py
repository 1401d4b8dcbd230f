"""What `rules` may change in a chess engine."""

from __future__ import annotations

import random
from typing import Any

from core.arena.mutation import Gene, choose, flip, jitter, jitter_each, step
from core.arena.repertoire import ArenaRules

FIRST_MOVES = ("e2e4", "d2d4", "c2c4", "g1f3")
REPLIES = ("e7e5", "c7c5", "e7e6", "d7d5", "g8f6")


def _more_book(value: Any, rng: random.Random) -> Any:
    """A first move, or a reply to one."""
    if rng.random() < 0.5:
        return {**value, "": rng.choice(FIRST_MOVES)}
    return {**value, rng.choice(FIRST_MOVES): rng.choice(REPLIES)}


def _slope(value: Any, rng: random.Random) -> Any:
    """A table moved as a whole: higher towards one end, or towards the middle."""
    size = rng.gauss(0, 6)
    shapes = ([i - 3.5 for i in range(8)], [1.75 - abs(i - 3.5) for i in range(8)])
    return type(value)(round(v + size * s) for v, s in zip(value, rng.choice(shapes), strict=True))


def _table(value: Any, rng: random.Random) -> Any:
    """Eight entries: mostly moved as a whole, sometimes one by one."""
    return _slope(value, rng) if rng.random() < 0.75 else jitter_each(-120, 120, 8)(value, rng)


_TABLES = ("PAWN_RANK", "PAWN_FILE", "KNIGHT_RANK", "KNIGHT_FILE", "BISHOP_RANK", "ROOK_RANK", "KING_RANK", "KING_FILE")

GENES = (
    Gene("QUIESCE", "search", step(0, 8, (1, 2, 4, -1)), "plies searched along captures"),
    Gene("CHECKS", "search", step(0, 4, (1, 2, -1)), "plies searched out of check"),
    Gene("SORT", "search", flip, "captures first"),
    Gene("TABLE", "search", flip, "remember best moves"),
    Gene("REPEAT", "search", jitter(0, 100, 15), "dislike of repetition"),
    Gene("MATERIAL", "evaluation", jitter_each(80, 1200, 20), "worth of the pieces"),
    Gene("MOBILITY", "evaluation", jitter(0, 20, 3), "worth of a move"),
    Gene("PAIR", "evaluation", jitter(0, 100, 15), "worth of both bishops"),
    *(Gene(name, "evaluation", _table, "piece-square terms") for name in _TABLES),
    Gene("BOOK", "book", _more_book, "prepared moves"),
    Gene("TIME_SHARE", "time", choose(0.015, 0.02, 0.03, 0.04, 0.05), "share of the clock a move"),
)

RULES = ArenaRules(GENES, costly={"QUIESCE": 0, "CHECKS": 0})
"""The writer behind `provider: rules`."""
