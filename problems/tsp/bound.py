"""A length that no tour can be shorter than, for instances whose shortest tour nobody told."""

from __future__ import annotations

from typing import Any

ROUNDS = 60
"""1-trees that are built; each costs the square of the number of cities."""


def one_tree_bound(distances: Any) -> float:
    """Held and Karp's bound by subgradient ascent: 1-trees under changed prices of cities, some 1 % below the optimum.

    Args:
        distances: a symmetric table, at least 4 × 4.

    Source: Held & Karp 1971, "The traveling-salesman problem and minimum spanning trees: Part II".
    """
    import numpy as np

    table = np.asarray(distances, dtype=float)
    prices, best = np.zeros(len(table)), 0.0
    step = None
    for number in range(ROUNDS):
        length, degrees = _one_tree(table + prices[:, None] + prices[None, :])
        bound = length - 2 * prices.sum()
        best = max(best, bound)
        off = degrees - 2
        if not off.any():
            break
        step = 0.1 * length / len(table) if step is None else step
        prices = prices + step * 0.95**number * off
    return float(best)


def _one_tree(table: Any) -> tuple[float, Any]:
    """Length and degrees of a shortest tree of all cities but the first, with the first's two shortest edges."""
    import numpy as np

    count = len(table)
    degrees, length = np.zeros(count), 0.0
    near, via = table[1].copy(), np.ones(count, dtype=int)
    outside = np.ones(count, dtype=bool)
    outside[[0, 1]] = False
    for _ in range(count - 2):
        city = int(np.where(outside, near, np.inf).argmin())
        length += near[city]
        degrees[[city, via[city]]] += 1
        outside[city] = False
        closer = outside & (table[city] < near)
        near[closer], via[closer] = table[city][closer], city
    two = np.argsort(table[0][1:])[:2] + 1
    degrees[two] += 1
    degrees[0] = 2
    return float(length + table[0][two].sum()), degrees
