"""What `rules` may change in a connect-four engine."""

from __future__ import annotations

import random
from typing import Any

from core.arena.mutation import Gene, choose, flip, jitter, jitter_each, reorder, step
from core.arena.repertoire import ArenaRules


def _another_order(value: Any, rng: random.Random) -> Any:
    """The centre first, or two columns exchanged."""
    centre = type(value)(sorted(value, key=lambda column: abs(column - 3)))
    return centre if value != centre and rng.random() < 0.7 else reorder(value, rng)


def _more_book(value: Any, rng: random.Random) -> Any:
    """One more prepared reply to one of the first positions."""
    played = "".join(rng.choice("1234567") for _ in range(rng.randrange(3)))
    return {**value, played: rng.choice("345")}


GENES = (
    Gene("EXTENSION", "search", step(0, 12, (1, 2, 2, 4, -1)), "plies searched along threats"),
    Gene("WIN_FIRST", "search", flip, "see wins in one before the search"),
    Gene("FORCED", "search", flip, "answer threats at once"),
    Gene("SORT", "search", flip, "order moves by the threats they make"),
    Gene("TABLE", "search", flip, "remember searched positions"),
    Gene("ORDER", "search", _another_order, "order of columns"),
    Gene("COLUMN", "evaluation", jitter_each(0, 60, 2), "worth of a stone by column"),
    Gene("THREAT", "evaluation", jitter(0, 200, 12), "worth of a threat"),
    Gene("PARITY", "evaluation", jitter(0, 200, 12), "worth of a threat on the right row"),
    Gene("BOOK", "book", _more_book, "prepared replies"),
    Gene("TIME_SHARE", "time", choose(0.02, 0.03, 0.04, 0.06, 0.08), "share of the clock a move"),
)

RULES = ArenaRules(GENES, costly={"EXTENSION": 0})
"""The writer behind `provider: rules`."""
