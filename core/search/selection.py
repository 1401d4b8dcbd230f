"""Which of a population become parents: three strategies, each a pure function of its arguments."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Protocol

from core.search.diversity import clusters
from core.state.node import Node


class ParentSelector(Protocol):
    """Picks the parents of the next node: a pure function of its arguments."""

    def select(self, pool: Sequence[Node], k: int, rng: random.Random) -> list[Node]:
        """Return at most `k` distinct nodes of `pool`, best last. `pool` is never empty and holds only scored nodes."""


class TournamentSelector:
    """The best of `size` random members, drawn without replacement; again for each further parent.

    Args:
        size: contestants a tournament; 1 is uniform choice. Must be >= 1.
    """

    def __init__(self, size: int = 3) -> None:
        if size < 1:
            raise ValueError(f"tournament size {size} must be at least 1")
        self.size = size

    def select(self, pool: Sequence[Node], k: int, rng: random.Random) -> list[Node]:
        left = list(pool)
        chosen: list[Node] = []
        while left and len(chosen) < k:
            contestants = rng.sample(range(len(left)), min(self.size, len(left)))
            winner = max(contestants, key=lambda i: (fitness(left[i]), -left[i].step))
            chosen.append(left.pop(winner))
        return best_last(chosen)


class RankSelector:
    """Linear ranking: the best of n has weight n, the worst weight 1; scores only order. Without replacement."""

    def select(self, pool: Sequence[Node], k: int, rng: random.Random) -> list[Node]:
        left = best_last(pool)
        chosen: list[Node] = []
        while left and len(chosen) < k:
            chosen.append(left.pop(weighted_index(range(1, len(left) + 1), rng)))
        return best_last(chosen)


class SoftmaxSelector:
    """Boltzmann selection of a cluster of equal behaviour, then a short program of it; without replacement.

    P(cluster i) ∝ exp((score_i − max score) / temperature); within a cluster P(program) ∝ exp(−relative length).

    Args:
        temperature: in units of the spread (max − min) of the clusters' scores; near 0 is greedy, large is uniform.
            Must be > 0.

    Source: Romera-Paredes et al. 2024 (FunSearch), Methods.
    """

    def __init__(self, temperature: float = 0.1) -> None:
        if not temperature > 0:
            raise ValueError(f"temperature {temperature} must be above 0")
        self.temperature = temperature

    def select(self, pool: Sequence[Node], k: int, rng: random.Random) -> list[Node]:
        groups = clusters(pool)
        chosen: list[Node] = []
        while groups and len(chosen) < k:
            scores = [fitness(group[0]) for group in groups]
            picked = weighted_index(boltzmann(scores, self.temperature), rng)
            group = groups.pop(picked)
            chosen.append(group[weighted_index(shortness([len(node.code) for node in group]), rng)])
        return best_last(chosen)


def build_selector(name: str, *, tournament_size: int = 3, temperature: float = 0.1) -> ParentSelector:
    """The strategy of that name: tournament, rank or softmax."""
    if name == "tournament":
        return TournamentSelector(tournament_size)
    if name == "rank":
        return RankSelector()
    if name == "softmax":
        return SoftmaxSelector(temperature)
    raise ValueError(f"search.selection={name!r}; allowed: tournament, rank, softmax")


def boltzmann(scores: Sequence[float], temperature: float) -> list[float]:
    """Unnormalised weights exp((s − max) / (temperature · spread)); all 1 where all scores are equal."""
    high, spread = max(scores), max(scores) - min(scores)
    if spread == 0:
        return [1.0] * len(scores)
    return [math.exp((score - high) / (temperature * spread)) for score in scores]


def shortness(lengths: Sequence[int]) -> list[float]:
    """Weights exp(−l), l the length turned to 0..1 within the group: shorter programs are likelier."""
    low, high = min(lengths), max(lengths)
    return [math.exp(-(length - low) / (high - low + 1e-6)) for length in lengths]


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
