"""What competitions import from `mlebench.metrics`: the same names and meanings, written anew."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np


def average_precision_at_k(actual: Collection[Any], predicted: Sequence[Any], k: int) -> float:
    """Mean precision at the places of the first k where something new was hit; 0 where nothing is to be found.

    Args:
        actual: what is to be found, in any order.
        predicted: the guesses, the most likely one first.
    """
    if not actual:
        return 0.0
    hits, total, seen = 0, 0.0, set()
    for place, guess in enumerate(predicted[:k], 1):
        if guess in actual and guess not in seen:
            seen.add(guess)
            hits += 1
            total += hits / place
    return total / min(len(actual), k)


def mean_average_precision_at_k(actual: Sequence[Collection[Any]], predicted: Sequence[Sequence[Any]], k: int) -> Any:
    """The mean of `average_precision_at_k` over all cases; ValueError where there are not as many guesses as cases."""
    return np.mean([average_precision_at_k(*pair, k) for pair in zip(actual, predicted, strict=True)])


def dice_coefficient(predicted_mask: Any, true_mask: Any, both_empty_value: float = np.nan) -> float:
    """Twice the common area over the sum of both; `both_empty_value` where neither mask marks anything."""
    assert predicted_mask.shape == true_mask.shape, f"masks of {predicted_mask.shape} and {true_mask.shape}"
    marked = np.sum(predicted_mask) + np.sum(true_mask)
    return 2 * np.sum(predicted_mask * true_mask) / marked if marked else both_empty_value
