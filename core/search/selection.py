"""What the ways to choose parents (`core/search/selectors/`) share."""

from __future__ import annotations

import random
from collections.abc import Sequence

from core.state.node import Node


def weighted_index(weights: Sequence[float], rng: random.Random) -> int:
    """An index drawn with probability proportional to its weight; one draw of `rng`."""
    point = rng.random() * sum(weights)
    for index, weight in enumerate(weights):
        point -= weight
        if point < 0:
            return index
    return len(weights) - 1


def fitness(node: Node) -> float:
    """The node's fitness; selectors see scored nodes only."""
    assert node.fitness is not None
    return node.fitness


def best_last(nodes: Sequence[Node]) -> list[Node]:
    """Worst to best; of equals the older is the better one."""
    return sorted(nodes, key=lambda node: (fitness(node), -node.step))
