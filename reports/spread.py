"""The spread of an evaluator that does not give the same program the same score, of repeated scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from core.state.noise import pooled
from utils.direction import finite
from utils.stats import student_quantile


@dataclass(frozen=True, slots=True)
class Look:
    """What one program scored, each time that it was scored."""

    first: float
    """Before the end of the search; where it chose the program, it is flattered by luck."""
    times: int
    """`first` is the mean of so many scores."""
    again: tuple[float, ...]
    """At the end of the search."""
    before: tuple[float, ...] | None = None
    """At the end as well, before those of `again`, which chose nothing then; None: those of `again` chose, too."""
    failed: int = 0
    """Looks of the end that failed and were taken again."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How far the scores of one program lie apart."""

    looks: Mapping[str, Look]
    """By node id."""
    deviation: float
    """Standard deviation of one score."""
    degrees: int
    """Of freedom, that the deviation is known with."""
    repeated: Mapping[str, Sequence[float]]
    """By node id: the scores of what was scored several times in the search."""

    def score(self, node_id: str | None, stored: float) -> tuple[float, int]:
        """(mean of the scores of the end, how many they are); the stored score where there are none."""
        look = self.looks.get(node_id or "")
        return (
            (fmean(look.again), len(look.again)) if look else (stored, len(self.repeated.get(node_id or "", ())) or 1)
        )

    def margin(self, mine: int, other: int, among: int = 1) -> float:
        """Half of the 95 % interval of the difference of two means of so many scores.

        Args:
            among: how many programs the one was chosen among, by these scores too: the interval holds for all of them
                together (Bonferroni).

        Source: Student's interval with a variance pooled over the programs.
        """
        return student_quantile(self.degrees, among) * self.deviation * math.sqrt(1 / mine + 1 / other)


def spread_of(final: Mapping[str, Any], repeated: Mapping[str, Sequence[float]]) -> Spread | None:
    """The spread within all programs that were scored several times, in the search or at its end.

    None where each of the best scored at the end what it had scored before, or nothing is known of it. Where there was
    no time to look at the end (`looks` is null), what was scored several times in the search says it.

    Args:
        final: the fact of that name.
        repeated: by node id, the scores of a node that was scored several times.
    """
    rows = final.get("looks")
    known = [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    if "looks" in final and rows is None:
        deviation, degrees = pooled(repeated.values())
        return Spread({}, deviation, degrees, repeated) if deviation > 0 else None
    looks = {str(row.get("node_id")): look for row in known if (look := _look(row, repeated)) is not None}
    if not looks:
        return None
    fresh, whole = (pooled([*groups, *repeated.values()]) for groups in _groups(looks))
    deviation, degrees = fresh if fresh[0] > 0 else whole
    return Spread(looks, deviation, degrees, repeated)


def _look(row: Mapping[str, Any], repeated: Mapping[str, Sequence[float]]) -> Look | None:
    first, again = finite(row.get("first")), [finite(score) for score in row.get("again") or ()]
    known = tuple(score for score in again if score is not None)
    times = len(repeated.get(str(row.get("node_id")), ())) or 1
    earlier = [finite(score) for score in row.get("before") or ()]
    before = tuple(score for score in earlier if score is not None) if "before" in row else None
    failed = row.get("failed")
    tries = failed if isinstance(failed, int) and failed > 0 else 0
    return None if first is None or not known else Look(first, times, known, before, tries)


def _groups(looks: Mapping[str, Look]) -> tuple[list[Sequence[float]], list[Sequence[float]]]:
    """(the fresh scores, all scores), a sequence a program: a score that chose its program lies too far out."""
    known = looks.values()
    late: list[Sequence[float]] = [scores for look in known for scores in (look.again, look.before) if scores]
    return late, [(look.first, *look.again) for look in known if look.times == 1]
