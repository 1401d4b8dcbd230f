"""The best of many draws, estimated from few of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import sqrt
from statistics import NormalDist, fmean, stdev

SIMULATED = 4000
"""Draws of mean and spread behind the interval."""


def expected_best(values: Sequence[float], count: int, seed: int = 0) -> tuple[float, float, float]:
    """(estimate, low, high) of the highest of `count` draws from where `values` came from, with a 95 % interval.

    The draws are taken as normal: then the highest of n lies z(n) spreads above the mean (Blom 1958), and what few
    values leave open about mean and spread is simulated (the generalized pivots of Weerahandi 1993). Bounded scores
    have a shorter upper end than this: the estimate then flatters the draws.

    Args:
        values: two or more.
        count: at least 1.
    """
    size, mean, spread = len(values), fmean(values), stdev(values)
    z = NormalDist().inv_cdf((count - 0.375) / (count + 0.25)) if count > 1 else 0.0
    rng = random.Random(seed)
    simulated = []
    for _ in range(SIMULATED):
        wide = spread * sqrt((size - 1) / rng.gammavariate((size - 1) / 2, 2))
        simulated.append(mean + wide * (rng.gauss(0, 1) / sqrt(size) + z))
    simulated.sort()
    low, high = simulated[round(0.025 * SIMULATED)], simulated[round(0.975 * SIMULATED) - 1]
    return mean + z * spread, low, high
