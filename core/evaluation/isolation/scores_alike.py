"""Whether scores of one program are those of the same thing: chance may part them."""

from __future__ import annotations

APART_BY = 0.05
"""Scores that vary differ one way and the other if all of the one are better than all of the other, by such a share of
the score or by more than either varies."""
RELATIVE = 1e-6


def mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)


def spread(numbers: list[float]) -> float:
    return max(numbers) - min(numbers)


def differ(ones: list[float], others: list[float]) -> bool:
    """True if the two are not scores of the same thing; of nothing no more is known."""
    if not ones or not others:
        return False
    low, high = sorted((ones, others), key=min)
    gap = min(high) - max(low)
    size = max(map(abs, (*ones, *others)))
    if gap <= RELATIVE * size:
        return False
    return gap > APART_BY * size or gap > max(spread(ones), spread(others))
