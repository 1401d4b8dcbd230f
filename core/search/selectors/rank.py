"""Rank: by place alone, whatever the distance between the scores."""

from __future__ import annotations

import random
from collections.abc import Sequence

from core.contracts import ParentSelector
from core.search.selection import best_last, weighted_index
from core.state.node import Node
from utils.strategies import Options, SelectorSpec


class RankOptions(Options):
    """By place alone: the best of n members has weight n, the worst weight 1."""


class RankSelector(ParentSelector):
    """Linear ranking: the best of n has weight n, the worst weight 1; scores only order. Without replacement."""

    def select(self, pool: Sequence[Node], k: int, rng: random.Random) -> list[Node]:
        left = best_last(pool)
        chosen: list[Node] = []
        while left and len(chosen) < k:
            chosen.append(left.pop(weighted_index(range(1, len(left) + 1), rng)))
        return best_last(chosen)


SELECTOR = SelectorSpec(RankOptions, lambda options: RankSelector())
