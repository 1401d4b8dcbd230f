"""Instances of the travelling salesman, random or a user's own, and the length of a tour."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

Point = tuple[float, float]
BHH = 0.7124
"""Constant of Beardwood, Halton & Hammersley: a shortest tour of n random points of the unit square is ≈ BHH · √n."""


def generate(count: int, cities: int, seed: str) -> list[list[Point]]:
    """`count` instances of uniform points in the unit square."""
    rng = random.Random(seed)
    return [[(rng.random(), rng.random()) for _ in range(cities)] for _ in range(count)]


def tour_length(points: Sequence[Point], tour: Sequence[int]) -> float:
    """Length of the closed tour; ValueError unless it visits every city once."""
    if sorted(tour) != list(range(len(points))):
        raise ValueError("not a tour: every city must be visited once")
    return sum(math.dist(points[a], points[b]) for a, b in zip(tour, [*tour[1:], tour[0]], strict=True))


def excess(points: Sequence[Point], tour: Sequence[int]) -> float:
    """Length over the expected shortest, minus 1."""
    return tour_length(points, tour) / (BHH * math.sqrt(len(points))) - 1
