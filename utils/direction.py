"""Direction: which way of a score is better, and everything that depends on it. The one place that turns a score."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

LARGEST = 1e150
"""Of a score. The square of a larger one is no float, so that nothing could be said of means, spreads and intervals."""

ROUNDING = 1e-9
"""Scores that differ by less than this share are the same score: sums in another order, not a better program."""


@dataclass(frozen=True, slots=True)
class Direction:
    """Whether low or high scores are better. What is no finite number is no score; no score is worse than any."""

    lower_is_better: bool = False

    @property
    def word(self) -> str:
        """`lower` or `higher`, as in "lower is better"."""
        return "lower" if self.lower_is_better else "higher"

    @property
    def optimum(self) -> str:
        """`min` or `max`, as configuration and JSON say it."""
        return "min" if self.lower_is_better else "max"

    def fitness(self, score: Any) -> float | None:
        """The score turned so that higher is better; None for what is no score."""
        number = finite(score)
        return None if number is None else self.turned(number)

    def turned(self, number: float) -> float:
        """A score to its fitness, and a fitness back to its score; never a zero below zero, as `finite` has it."""
        return 0.0 - number if self.lower_is_better else number + 0.0

    def gain(self, score: float, reference: float) -> float:
        """How much better `score` is than `reference`, in the unit of both; negative if it is worse."""
        return reference - score if self.lower_is_better else score - reference

    def real_gain(self, score: float, reference: float) -> float:
        """The gain; 0 where the two are the same score but for rounding."""
        return 0.0 if math.isclose(score, reference, rel_tol=ROUNDING) else self.gain(score, reference)

    def better(self, score: Any, reference: Any) -> bool:
        """True if `score` is better than `reference`. Any score is better than none."""
        mine, other = self.fitness(score), self.fitness(reference)
        return mine is not None and (other is None or mine > other)

    def best(self, items: Iterable[T], score: Callable[[T], float]) -> T | None:
        """The item with the best score, the first of equals; None without any."""
        return max(items, key=lambda item: self.turned(score(item)), default=None)

    def ranked(self, items: Iterable[T], score: Callable[[T], float]) -> list[T]:
        """The items, best score first; equals stay in order."""
        return sorted(items, key=lambda item: self.turned(score(item)), reverse=True)


def finite(value: Any) -> float | None:
    """`value` as a finite float, or None. Integers and NumPy scalars count; booleans and text do not.

    A zero below zero (an error of 0, turned round) is 0: no store keeps its sign, and a run is the same once read back.
    """
    if value is None or isinstance(value, bool | str | bytes):
        return None
    try:
        number = float(value) + 0.0
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def as_score(value: Any) -> float | None:
    """`value` as a score: a finite number that can be compared with others; None for what is none."""
    number = finite(value)
    return number if number is not None and abs(number) <= LARGEST else None
