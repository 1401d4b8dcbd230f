"""Rules that a user may have written: they say how every game goes on, or how it ended."""

from __future__ import annotations

import random
from typing import Any

from core.contracts import Game, Outcome
from utils.errors import ConfigError


def outcome_of(game: Game, state: Any) -> tuple[Outcome, str] | None:
    """As `Game.outcome`. ConfigError where a game neither ended nor goes on: whoever is to move would lose by that."""
    ended = game.outcome(state)
    if ended is None and not game.legal(state):
        raise ConfigError(
            f"game {game.name}: no move is legal in {game.text(state)}, and its `outcome` says that the game goes on; "
            "say there how such a game ended"
        )
    return ended


def try_rules(game: Game, plies: int) -> None:
    """Play random games of so many plies together: what their rules leave out is told before anything is searched.

    Raises:
        ConfigError: as `outcome_of`.
    """
    rng, state = random.Random(0), game.initial()
    for _ in range(plies):
        is_over = outcome_of(game, state) is not None
        state = game.initial() if is_over else game.apply(state, rng.choice(list(game.legal(state))))
