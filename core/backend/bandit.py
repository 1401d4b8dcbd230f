"""Chooses which of several models writes the next program: by weight, or by improvement per dollar so far."""

from __future__ import annotations

import math
import random
import threading
from dataclasses import dataclass

from core.backend.settings import ModelSettings
from core.state.task import derive_seed

CHEAPEST_SHARE = 0.1
"""Costs below this share of the dearest model's count as this share: a free model must not win by its price alone."""


@dataclass(slots=True)
class Arm:
    """What the nodes of one model gained and cost so far."""

    pulls: int = 0
    gain: float = 0.0
    """Sum of improvements, in the problem's unit."""
    cost: float = 0.0
    """Sum of dollars."""


class Bandit:
    """UCB on improvement per dollar: the arm with the highest density + √(2 ln N / n), where density is mean gain over
    mean cost as a share of the best arm's.

    A choice depends on what was told and on `rng` only, never on calls in flight, so that a resumed run, which tells
    the stored nodes again, chooses the same.

    Source: UCB1 of Auer et al. 2002 over the densities of Tran-Thanh et al. 2012 (KUBE).
    """

    def __init__(self) -> None:
        self._arms: dict[str, Arm] = {}
        self._lock = threading.Lock()

    def tell(self, name: str, gain: float, cost: float | None) -> None:
        """Learn that a node of model `name` improved the best by `gain` (≤ 0 or not finite: not at all)."""
        gain = gain if math.isfinite(gain) and gain > 0 else 0.0
        with self._lock:
            arm = self._arms.setdefault(name, Arm())
            arm.pulls += 1
            arm.gain += gain
            arm.cost += max(cost or 0.0, 0.0)

    def choose(self, names: list[str], rng: random.Random) -> int:
        """Return the index of a random model without a node, else of the best one by the formula above."""
        with self._lock:
            fresh = [i for i, name in enumerate(names) if name not in self._arms]
            if fresh:
                return rng.choice(fresh)
            scores = self._scores([self._arms[name] for name in names])
        best = max(scores)
        return rng.choice([i for i, score in enumerate(scores) if score == best])

    def _scores(self, arms: list[Arm]) -> list[float]:
        pulls = sum(arm.pulls for arm in arms)
        densities = self._densities(arms)
        best = max(densities)
        return [
            (density / best if best else 0.0) + math.sqrt(2 * math.log(pulls) / arm.pulls)
            for arm, density in zip(arms, densities, strict=True)
        ]

    def _densities(self, arms: list[Arm]) -> list[float]:
        """Mean gain over mean cost, the cost in shares of the dearest arm's; 1 each where nothing costs."""
        costs = [arm.cost / arm.pulls for arm in arms]
        dearest = max(costs)
        shares = [max(cost / dearest, CHEAPEST_SHARE) if dearest else 1.0 for cost in costs]
        return [arm.gain / arm.pulls / share for arm, share in zip(arms, shares, strict=True)]


class ModelChooser:
    """Chooses among a role's models for one node. All attempts of a node and role go to the same model.

    Draws come from (run seed, node id, role), so that equal runs choose alike whatever thread asks first.
    """

    def __init__(self, run_seed: int) -> None:
        self._run_seed = run_seed
        self._bandit = Bandit()
        self._lock = threading.Lock()
        self._chosen: dict[tuple[str, str], ModelSettings] = {}

    def choose(self, settings: ModelSettings, node_id: str, role: str) -> ModelSettings:
        if not settings.models:
            return settings
        with self._lock:
            if (node_id, role) not in self._chosen:
                self._chosen[node_id, role] = self._draw(settings, node_id, role)
            return self._chosen[node_id, role]

    def reward(self, writer: str, gain: float, cost: float | None) -> None:
        self._bandit.tell(writer, gain, cost)

    def _draw(self, settings: ModelSettings, node_id: str, role: str) -> ModelSettings:
        rng = random.Random(derive_seed(self._run_seed, node_id, role, "model"))
        if settings.choice == "bandit":
            return settings.models[self._bandit.choose([arm.writer for arm in settings.models], rng)]
        return rng.choices(settings.models, [arm.weight for arm in settings.models])[0]
