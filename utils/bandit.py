"""Chooses among what has gained the most a dollar so far, and what was seldom tried."""

from __future__ import annotations

import math
import random
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

CHEAPEST_SHARE = 0.1
"""Costs below this share of the dearest arm's count as this share: a free arm must not win by its price alone."""


@dataclass(slots=True)
class Arm:
    """What the nodes of one arm gained and cost so far.

    Sums are exact: a rounding error that a gain leaves behind when it goes out of the window would be all that is left
    of any gain, and that arm would be taken for the best.
    """

    pulls: int = 0
    gain: Fraction = Fraction(0)
    """Sum of improvements, in the problem's unit."""
    cost: Fraction = Fraction(0)
    """Sum of dollars."""


class Bandit:
    """UCB on improvement per dollar: the arm with the highest density + c·√(2 ln N / n).

    Density is mean gain over mean cost, as a share of the best arm's; where nothing costs, improvement per node.

    A choice depends on what was told and on `rng` only, never on calls in flight, so that a resumed run, which tells
    the stored nodes again, chooses the same. Thread-safe.

    Args:
        exploration: c; larger tries what was seldom tried more often.
        window: only so many of the newest nodes count: gains get smaller as a search goes on. None: all.

    Source: UCB1 of Auer et al. 2002 over the densities of Tran-Thanh et al. 2012 (KUBE), in a sliding window as in
    Garivier & Moulines 2011.
    """

    def __init__(self, exploration: float = 1.0, window: int | None = None) -> None:
        self._exploration = exploration
        self._window = window
        self._told: deque[tuple[str, Fraction, Fraction]] = deque()
        self._arms: dict[str, Arm] = {}
        self._lock = threading.Lock()

    def tell(self, name: str, gain: float, cost: float | None) -> None:
        """Learn that a node of arm `name` improved the best by `gain` (≤ 0 or not finite: not at all)."""
        gained = Fraction(gain) if math.isfinite(gain) and gain > 0 else Fraction(0)
        paid = Fraction(max(cost or 0.0, 0.0))
        with self._lock:
            self._count(name, 1, gained, paid)
            if self._window is not None:
                self._told.append((name, gained, paid))
                if len(self._told) > self._window:
                    old, gone, back = self._told.popleft()
                    self._count(old, -1, -gone, -back)

    def _count(self, name: str, pulls: int, gain: Fraction, cost: Fraction) -> None:
        arm = self._arms.setdefault(name, Arm())
        arm.pulls += pulls
        arm.gain += gain
        arm.cost += cost
        if not arm.pulls:
            del self._arms[name]

    def choose(self, names: list[str], rng: random.Random, pending: Mapping[str, int] | None = None) -> int:
        """Return the index of a random arm without a node, else of the best one by the formula above.

        Args:
            pending: nodes of each arm that are under way: tries whose gain is not known yet.
        """
        waiting = pending or {}
        with self._lock:
            known = [self._arms.get(name, Arm()) for name in names]
            arms = [
                Arm(arm.pulls + waiting.get(name, 0), arm.gain, arm.cost)
                for name, arm in zip(names, known, strict=True)
            ]
        fresh = [i for i, arm in enumerate(arms) if not arm.pulls]
        if fresh:
            return rng.choice(fresh)
        scores = self._scores(arms)
        best = max(scores)
        return rng.choice([i for i, score in enumerate(scores) if score == best])

    def _scores(self, arms: list[Arm]) -> list[float]:
        pulls = sum(arm.pulls for arm in arms)
        densities = _densities(arms)
        best = max(densities)
        return [
            (density / best if best else 0.0) + self._exploration * math.sqrt(2 * math.log(pulls) / arm.pulls)
            for arm, density in zip(arms, densities, strict=True)
        ]


def _densities(arms: list[Arm]) -> list[float]:
    """Mean gain over mean cost, the cost in shares of the dearest arm's; 1 each where nothing costs."""
    costs = [float(arm.cost / arm.pulls) for arm in arms]
    dearest = max(costs)
    shares = [max(cost / dearest, CHEAPEST_SHARE) if dearest else 1.0 for cost in costs]
    return [float(arm.gain / arm.pulls) / share for arm, share in zip(arms, shares, strict=True)]
