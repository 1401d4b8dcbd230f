"""The timing lane: scores that are times, measured alone on a pinned core, repeated, with an interval.

spec = timed_spec(entry, payload, limits)        # JobSpec.alone: whatever search.workers says
timing = repeat(lambda: seconds_of_one_run(), repeats=9)
evaluation = Evaluation(metric=timing.seconds, interval=timing.interval)
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

from core.contracts import JobSpec, Limits
from utils.stats import standard_error, student_975

_NARROW = 0.05
"""Width of an interval that is enough, as a fraction of the median."""
_FEWEST = 6
"""Below six samples no pair of order statistics holds the median with 95 %: the ends of three do so with 75 %."""


@dataclass(frozen=True, slots=True)
class Timing:
    """A time that was measured several times."""

    seconds: float
    """Median of the samples."""
    interval: tuple[float, float]
    """95 % interval of the median, without an assumption about the distribution."""
    samples: tuple[float, ...]

    @property
    def spread(self) -> float:
        """Width of the interval as a fraction of the median."""
        return (self.interval[1] - self.interval[0]) / self.seconds if self.seconds else 0.0


def repeat(measure: Callable[[], float], *, repeats: int = 9, at_most: int = 45) -> Timing:
    """Measure until the interval is narrow: a twentieth of the median. A first run is thrown away.

    Args:
        measure: runs once and returns its seconds, by a clock that the candidate cannot reach.
        repeats: samples before the first look, at least 6.
        at_most: samples in all.
    """
    if repeats < _FEWEST:
        raise ValueError(f"repeats={repeats}: at least {_FEWEST} are needed for a 95 % interval")
    measure()
    samples = [measure() for _ in range(repeats)]
    while summary(samples).spread > _NARROW and len(samples) < at_most:
        samples.append(measure())
    return summary(samples)


class ByTurns:
    """Measures a rival beside each run of a program, one before and one after it in turn: what else the machine does
    slows both alike.

    Args:
        measure: as for `repeat`.
        rival: the same of the rival; None: it failed, and is asked no more.
    """

    def __init__(self, measure: Callable[[], float], rival: Callable[[], float | None] | None) -> None:
        self._measure = measure
        self._rival = rival
        self._pairs: list[tuple[float, float]] = []
        self._rival_first = False

    def once(self) -> float:
        """Seconds of one run of the program."""
        before = self._rivals() if self._rival_first else None
        seconds = self._measure()
        other = before if self._rival_first else self._rivals()
        self._rival_first = not self._rival_first
        if other is not None:
            self._pairs.append((seconds, other))
        return seconds

    def ratio(self, warm_ups: int = 1) -> tuple[float, float, float] | None:
        """(the program's seconds over the rival's, its 95 % interval): the median over the pairs.

        None where the rival failed, or too few were measured.
        """
        ratios = [seconds / other for seconds, other in self._pairs[warm_ups:] if seconds > 0 and other > 0]
        if self._rival is None or len(ratios) < _FEWEST:
            return None
        return statistics.median(ratios), *interval_of_median(ratios)

    def _rivals(self) -> float | None:
        found = self._rival() if self._rival is not None else None
        if found is None:
            self._rival = None
        return found


def summary(samples: Sequence[float]) -> Timing:
    """Median and its interval."""
    return Timing(statistics.median(samples), interval_of_median(samples), tuple(samples))


def interval_of_median(samples: Sequence[float]) -> tuple[float, float]:
    """The narrowest pair of order statistics, equally far from both ends, that holds the median with 95 %.

    Of fewer than six samples Student's interval of their mean. The number of samples below the median is
    Binomial(n, 1/2).

    Source: Conover, Practical Nonparametric Statistics, 3rd ed., section 3.2.
    """
    ordered = sorted(samples)
    n = len(ordered)
    if n == 0:
        raise ValueError("no samples")
    if 1 < n < _FEWEST:
        mean, half = statistics.fmean(ordered), student_975(n - 1) * (standard_error(ordered) or 0.0)
        return mean - half, mean + half
    rank, tail = 0, 0.0
    while rank < n // 2:
        tail += comb(n, rank) / 2**n
        if 2 * tail > 0.05:
            break
        rank += 1
    rank = max(rank - 1, 0)
    return ordered[rank], ordered[n - 1 - rank]


def quiet_core() -> int:
    """The CPU that times are measured on: the last one that we may use (the first takes most interrupts)."""
    return max(os.sched_getaffinity(0))


def timed_limits(limits: Limits) -> Limits:
    """The same limits on the quiet core, with one thread."""
    return limits.model_copy(update={"core": quiet_core(), "threads": 1})


def timed_spec(entry: str, payload: dict[str, Any], limits: Limits) -> JobSpec:
    """A job alone: `payload` gets the limits of the timing lane under `limits`."""
    held = timed_limits(limits).model_dump()
    return JobSpec(entry=entry, payload=payload | {"limits": held}, alone=True, memory_mb=limits.memory_mb)
