"""What a tour's length is made of: so a writer sees whether the rule loses at once, or pays at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

QUARTERS = ("first", "second", "third", "last")


def tour_parts(tour: Sequence[int], between: Callable[[int, int], float], unit: float) -> dict[str, float]:
    """The share of each quarter of the legs, in the order in which they were chosen, and of the way home.

    Args:
        between: two cities → their distance.
        unit: the length that the score divides by; so the parts add up to the score plus 1.
    """
    legs = [between(a, b) / unit for a, b in pairwise(tour)]
    cuts = [round(len(legs) * quarter / len(QUARTERS)) for quarter in range(len(QUARTERS) + 1)]
    lengths = [sum(legs[start:end]) for start, end in pairwise(cuts)]
    named = {f"{name} quarter of the legs": length for name, length in zip(QUARTERS, lengths, strict=True)}
    return {**named, "way home": between(tour[-1], tour[0]) / unit}
