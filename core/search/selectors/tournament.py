"""Tournament: the best of a few members drawn at random."""

from __future__ import annotations

import random
from collections.abc import Sequence

from pydantic import Field

from core.contracts import ParentSelector
from core.search.selection import best_last, fitness
from core.state.node import Node
from utils.strategies import Options, SelectorSpec


class TournamentOptions(Options):
    """The best of a few members drawn at random."""

    size: int = Field(3, ge=1)
    """Contestants a tournament; 1 is uniform choice."""


class TournamentSelector(ParentSelector):
    """The best of `size` random members, drawn without replacement; again for each further parent."""

    def __init__(self, options: TournamentOptions) -> None:
        self._size = options.size

    def select(self, pool: Sequence[Node], k: int, rng: random.Random) -> list[Node]:
        left = list(pool)
        chosen: list[Node] = []
        while left and len(chosen) < k:
            contestants = rng.sample(range(len(left)), min(self._size, len(left)))
            winner = max(contestants, key=lambda i: (fitness(left[i]), -left[i].step))
            chosen.append(left.pop(winner))
        return best_last(chosen)


SELECTOR = SelectorSpec(TournamentOptions, TournamentSelector)
