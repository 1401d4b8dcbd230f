"""Rules that a user may have written: they say how every game goes on, or how it ended."""

from __future__ import annotations

import random
from typing import Any, get_args

from core.contracts import Game, Outcome
from utils.errors import ConfigError

RESULTS = frozenset(get_args(Outcome))


def outcome_of(game: Game, state: Any) -> tuple[Outcome, str] | None:
    """As `Game.outcome`.

    Raises:
        ConfigError: that says something else, or the game neither ended nor goes on by moves that are texts: whoever is
            to move would lose by that.
    """
    ended: Any = game.outcome(state)
    if ended is not None:
        if (
            not isinstance(ended, tuple | list)
            or len(ended) != 2
            or ended[0] not in RESULTS
            or not isinstance(ended[1], str)
        ):
            raise ConfigError(
                f"game {game.name}: its `outcome` says {ended!r:.80}; allowed are None while the game goes on, and "
                "('1-0' or '0-1' or '1/2-1/2', how it ended)"
            )
        return ended[0], ended[1]
    legal = game.legal(state)
    if not legal:
        raise ConfigError(
            f"game {game.name}: no move is legal in {game.text(state)}, and its `outcome` says that the game goes on; "
            "say there how such a game ended"
        )
    if not all(isinstance(move, str) for move in legal):
        raise ConfigError(f"game {game.name}: a move is {legal[0]!r:.80}; moves are texts, as engines answer them")
    return None


def try_rules(game: Game, plies: int) -> None:
    """Play random games of so many plies together: what their rules leave out is told before anything is searched.

    Raises:
        ConfigError: as `outcome_of`.
    """
    rng, state = random.Random(0), game.initial()
    for _ in range(plies):
        is_over = outcome_of(game, state) is not None
        state = game.initial() if is_over else game.apply(state, rng.choice(list(game.legal(state))))
