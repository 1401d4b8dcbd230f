"""What may be claimed: is the winner better than every baseline on the final part, and how sure is that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from utils.direction import Direction
from utils.stats import drawn_interval, student_interval

FEWEST_DRAWN = 20
"""Of fewer rows, or groups of them, resamples say too little to compare two programs by them."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The winner against one baseline."""

    baseline: str
    gain: float
    """How much better the winner's score is, in the metric's unit; negative if it is worse."""
    interval: tuple[float, float]
    """95 % interval of the gain."""

    @property
    def holds(self) -> bool:
        """True if the whole interval is an improvement."""
        return self.interval[0] > 0


def paired_claim(
    baseline: str, gain: float, winner: Sequence[float], reference: Sequence[float], lower_is_better: bool
) -> Claim | None:
    """The gain with Student's paired interval over the final part's cases; None with too few cases to say.

    Args:
        gain: the difference of the two scores, positive where the winner is better.
        winner: what each case adds to the winner's score, in its unit: their mean is the score. The cases are
            instances that the search never saw.
        reference: the baseline's, on the same cases.

    The winner was chosen on validation, so the final part's cases are new to it.
    """
    direction = Direction(lower_is_better)
    gains = [direction.real_gain(own, other) for own, other in zip(winner, reference, strict=False)]
    found = student_interval(gains) if len(winner) == len(reference) else None
    if found is None:
        return None
    half = (found[2] - found[1]) / 2
    return Claim(baseline, gain, (gain - half, gain + half))


def drawn_claim(
    baseline: str, gain: float, winner: Sequence[float], reference: Sequence[float], cases: int, lower_is_better: bool
) -> Claim | None:
    """The gain with a paired bootstrap's interval, for scores that are no mean of cases, such as an RMSE.

    Args:
        winner, reference: both programs' scores on the same resampled rows, draw by draw.
        cases: how many rows, or groups of them, are drawn.
    """
    direction = Direction(lower_is_better)
    gains = [direction.real_gain(own, other) for own, other in zip(winner, reference, strict=False)]
    found = drawn_interval(gains, cases) if len(winner) == len(reference) and cases >= FEWEST_DRAWN else None
    return None if found is None else Claim(baseline, gain, found)


def hardest(claims: Sequence[Claim]) -> Claim | None:
    """The claim that speaks for all: against the baseline that is hardest to beat, by the interval's lower end.

    "Better than every baseline" may be claimed where the winner is better than each at the full level: no correction
    is due (the intersection-union test; Berger 1982). The baseline that is best on validation is not enough: where
    nothing can be learned it is an overfitted one as often as not, and a winner that does no more than the constant is
    really better than that one.
    """
    return min(claims, key=lambda claim: claim.interval[0], default=None)
