"""Metric: a score with its direction. `utils/metric_kinds.py` has those that have a name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import total_ordering
from typing import Any

from utils.direction import Direction, finite


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """A score in the problem's own unit, and which way is better. `a > b` reads "a is better than b".

    No score (None, NaN, infinite, not a number) is worse than any score and equal to no score. Integers are numbers;
    booleans are not scores.
    """

    value: float | None
    lower_is_better: bool = False

    @classmethod
    def of(cls, value: Any, lower_is_better: bool = False) -> Metric:
        """From anything a program may have given: what is not a finite number becomes no score."""
        return cls(finite(value), lower_is_better)

    @property
    def is_worst(self) -> bool:
        """True if there is no score."""
        return finite(self.value) is None

    @property
    def fitness(self) -> float:
        """Turned so that higher is better; -inf for no score."""
        turned = Direction(self.lower_is_better).fitness(self.value)
        return -math.inf if turned is None else turned

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metric) and self.fitness == other.fitness

    def __hash__(self) -> int:
        return hash(self.fitness)

    def __gt__(self, other: Metric) -> bool:
        if self.lower_is_better != other.lower_is_better and not (self.is_worst or other.is_worst):
            raise ValueError("metrics of different direction cannot be compared")
        return self.fitness > other.fitness

    def __str__(self) -> str:
        arrow = "↓" if self.lower_is_better else "↑"
        return f"none {arrow}" if self.is_worst else f"{self.value:.6g} {arrow}"
