"""What may be claimed: is the winner better than every baseline on the final part, and how sure is that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST_CASES = 5

_T975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""97.5 % quantiles of Student's t for 1 to 30 degrees of freedom."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The winner against one baseline."""

    baseline: str
    gain: float
    """How much better the winner is on an average case, in the unit of the per-case scores; negative if it is worse."""
    interval: tuple[float, float]
    """95 % interval of the gain."""

    @property
    def holds(self) -> bool:
        """True if the whole interval is an improvement."""
        return self.interval[0] > 0

    @property
    def text(self) -> str:
        low, high = self.interval
        verdict = "an improvement" if self.holds else "not told apart" if high >= 0 else "worse"
        gain = f"{self.gain:+.4g} a case (95 % {low:+.4g} … {high:+.4g})"
        return f"against {self.baseline} on the final part: {gain}: {verdict}"


def paired_claim(
    baseline: str, winner: Sequence[float], reference: Sequence[float], lower_is_better: bool
) -> Claim | None:
    """Student's paired interval over the final part's cases; None with too few cases to say.

    Args:
        winner: per-case scores of the winner; the cases are blocks of rows or instances that the search never saw.
        reference: the baseline's, on the same cases.

    The winner was chosen on validation, so the final part's cases are new to it.
    """
    gains = [(r - w) if lower_is_better else (w - r) for w, r in zip(winner, reference, strict=False)]
    if len(winner) != len(reference) or len(gains) < FEWEST_CASES or not all(map(math.isfinite, gains)):
        return None
    mean = sum(gains) / len(gains)
    spread = math.sqrt(sum((gain - mean) ** 2 for gain in gains) / (len(gains) - 1))
    half = student_975(len(gains) - 1) * spread / math.sqrt(len(gains))
    return Claim(baseline, mean, (mean - half, mean + half))


def hardest(claims: Sequence[Claim]) -> Claim | None:
    """The claim that speaks for all: against the baseline that is hardest to beat, by the interval's lower end.

    "Better than every baseline" may be claimed where the winner is better than each at the full level: no correction
    is due (the intersection-union test; Berger 1982). The baseline that is best on validation is not enough: where
    nothing can be learned it is an overfitted one as often as not, and a winner that does no more than the constant is
    really better than that one.
    """
    return min(claims, key=lambda claim: claim.interval[0], default=None)


def student_975(degrees: int) -> float:
    """97.5 % quantile of Student's t; from 31 degrees on by the first terms of its expansion (Fisher 1925)."""
    if degrees <= len(_T975):
        return _T975[degrees - 1]
    z = 1.959964
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
