"""Softmax: a cluster of equal behaviour by its score, then a short program of it.

Source: Romera-Paredes et al. 2024 (FunSearch), Methods.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from pydantic import Field

from core.contracts import ParentSelector
from core.search.diversity import clusters
from core.search.selection import best_last, fitness, weighted_index
from core.state.node import Node
from utils.strategies import Options, SelectorSpec


class SoftmaxOptions(Options):
    """A cluster of equal behaviour by its score, then a short program of it."""

    temperature: float = Field(0.1, gt=0)
    """In units of the spread (max − min) of the clusters' scores; near 0 is greedy, large is uniform."""


class SoftmaxSelector(ParentSelector):
    """Boltzmann selection of a cluster of equal behaviour, then a short program of it; without replacement.

    P(cluster i) ∝ exp((score_i − max score) / temperature); within a cluster P(program) ∝ exp(−relative length).
    """

    def __init__(self, options: SoftmaxOptions) -> None:
        self._temperature = options.temperature

    def select(self, pool: Sequence[Node], k: int, rng: random.Random) -> list[Node]:
        groups = clusters(pool)
        chosen: list[Node] = []
        while groups and len(chosen) < k:
            scores = [fitness(group[0]) for group in groups]
            picked = weighted_index(boltzmann(scores, self._temperature), rng)
            group = groups.pop(picked)
            chosen.append(group[weighted_index(shortness([len(node.code) for node in group]), rng)])
        return best_last(chosen)


def boltzmann(scores: Sequence[float], temperature: float) -> list[float]:
    """Unnormalised weights exp((s − max) / (temperature · spread)); all 1 where all scores are equal.

    Divided one by one: the product of the two may be too small for a float.
    """
    high, spread = max(scores), max(scores) - min(scores)
    if spread == 0:
        return [1.0] * len(scores)
    return [math.exp((score - high) / spread / temperature) for score in scores]


def shortness(lengths: Sequence[int]) -> list[float]:
    """Weights exp(−l), l the length turned to 0..1 within the group: shorter programs are likelier."""
    low, high = min(lengths), max(lengths)
    return [math.exp(-(length - low) / (high - low + 1e-6)) for length in lengths]


SELECTOR = SelectorSpec(SoftmaxOptions, SoftmaxSelector)
