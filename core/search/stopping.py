"""When a search ends: one tiny rule a limit, whichever speaks first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from core.contracts import Progress
from utils.counts import counted
from utils.direction import Direction


class Stopper(Protocol):
    """One limit."""

    def reason(self, progress: Progress) -> str | None:
        """One line for the user when the limit is reached, else None."""


@dataclass(frozen=True, slots=True)
class MaxSteps:
    limit: int

    def reason(self, progress: Progress) -> str | None:
        if progress.steps > self.limit:
            return f"max_steps: the run has {counted(progress.steps, 'step')}, more than the {self.limit} allowed now"
        return f"max_steps: {progress.steps} of {counted(self.limit, 'step')}" if progress.steps == self.limit else None


@dataclass(frozen=True, slots=True)
class MaxGenerations:
    limit: int

    def reason(self, progress: Progress) -> str | None:
        done = progress.generations
        return f"max_generations: {done} of {counted(self.limit, 'generation')}" if done >= self.limit else None


@dataclass(frozen=True, slots=True)
class MaxSeconds:
    limit: float

    def reason(self, progress: Progress) -> str | None:
        done = progress.seconds
        return f"budget.seconds: {done:.0f} of {self.limit:g} s" if done >= self.limit else None


@dataclass(frozen=True, slots=True)
class MaxTokens:
    limit: int

    def reason(self, progress: Progress) -> str | None:
        done = progress.tokens
        return f"budget.tokens: {done:,} of {counted(self.limit, 'token', form=',')}" if done >= self.limit else None


@dataclass(frozen=True, slots=True)
class MaxDollars:
    """Spent, not reserved: what calls in flight may still cost is the backend's to reserve.

    Args:
        per_hour: what an hour of the machines costs.
    """

    limit: float
    per_hour: float = 0.0

    def reason(self, progress: Progress) -> str | None:
        machine = progress.seconds * self.per_hour / 3600
        done = progress.usd + machine
        if done < self.limit or done <= 0:
            return None
        return f"budget.usd: ${done:.4f} of ${self.limit:g}" + (f", ${machine:.4f} for the machines" if machine else "")


@dataclass(frozen=True, slots=True)
class TargetMetric:
    """Reached when the best metric is at the target or beyond it in the problem's direction."""

    target: float
    lower_is_better: bool

    def reason(self, progress: Progress) -> str | None:
        best = progress.best_metric
        if best is None or Direction(self.lower_is_better).better(self.target, best):
            return None
        return f"budget.target: {best:g} reaches {self.target:g}"


@dataclass(frozen=True, slots=True)
class Bound:
    """Reached when the best metric is the best that there can be."""

    value: float
    lower_is_better: bool

    def reason(self, progress: Progress) -> str | None:
        best = progress.best_metric
        if best is None or Direction(self.lower_is_better).better(self.value, best):
            return None
        return f"nothing is better than {best:g}"


@dataclass(frozen=True, slots=True)
class Stagnation:
    """`limit` steps without a new best. Before the first score nothing can stagnate."""

    limit: int

    def reason(self, progress: Progress) -> str | None:
        if progress.best_metric is None or progress.steps_since_best < self.limit:
            return None
        return f"budget.stagnation: no new best in {counted(progress.steps_since_best, 'step')}"


@dataclass(frozen=True, slots=True)
class Repeats:
    """`limit` steps in a row that wrote only programs that were known already: the writer has nothing new to say."""

    limit: int

    def reason(self, progress: Progress) -> str | None:
        if progress.repeats < self.limit:
            return None
        last = "program was" if progress.repeats == 1 else f"{progress.repeats} programs were"
        return f"budget.repeats: the writer has nothing new, its last {last} known already"


@dataclass(frozen=True, slots=True)
class NothingLeft:
    """`limit` steps in a row whose writers see nothing left to gain. Before the first score nobody can know."""

    limit: int

    def reason(self, progress: Progress) -> str | None:
        if progress.best_metric is None or progress.nothing_left < self.limit:
            return None
        count = progress.nothing_left
        last = "writer of the last step sees" if count == 1 else f"writers of the last {count} steps see"
        return f"budget.nothing_left: the {last} nothing left to gain"


class Stopping:
    """Any of several limits; the first in order that is reached names the reason."""

    def __init__(self, stoppers: Iterable[Stopper] = ()) -> None:
        self.stoppers = tuple(stoppers)

    def reason(self, progress: Progress) -> str | None:
        return next((text for stopper in self.stoppers if (text := stopper.reason(progress))), None)


def stopping(
    *,
    max_steps: int | None = None,
    max_generations: int | None = None,
    seconds: float | None = None,
    tokens: int | None = None,
    usd: float | None = None,
    usd_per_hour: float = 0.0,
    target: float | None = None,
    bound: float | None = None,
    lower_is_better: bool = False,
    stagnation: int | None = None,
    repeats: int | None = None,
    nothing_left: int | None = None,
) -> Stopping:
    """The limits that are given, success before exhaustion: a run that reaches its target at its last step says so."""
    found: list[Stopper] = []
    if target is not None:
        found.append(TargetMetric(target, lower_is_better))
    if bound is not None:
        found.append(Bound(bound, lower_is_better))
    if max_steps is not None:
        found.append(MaxSteps(max_steps))
    if max_generations is not None:
        found.append(MaxGenerations(max_generations))
    if seconds is not None:
        found.append(MaxSeconds(seconds))
    if tokens is not None:
        found.append(MaxTokens(tokens))
    if usd is not None:
        found.append(MaxDollars(usd, usd_per_hour))
    if stagnation is not None:
        found.append(Stagnation(stagnation))
    if repeats is not None:
        found.append(Repeats(repeats))
    if nothing_left is not None:
        found.append(NothingLeft(nothing_left))
    return Stopping(found)
