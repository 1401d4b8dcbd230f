"""Online packing with a rule, in plain Python: the definition that the compiled loops must agree with.

Protocol (Romera-Paredes et al. 2024): there are as many bins as items, all empty at the start. An item goes to the bin
of highest score among those with room, the first of equals in bin order; so a rule also scores an unopened bin, as one
with `remaining_capacity == capacity`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

PairRule = Callable[[int, int], float]
"""score_bin(item, remaining_capacity), higher is better."""
HistogramRule = Callable[[int, int, Sequence[int]], float]
"""score_bin(item, remaining_capacity, histogram): histogram[r] open bins have r left; unopened bins are not counted."""
VectorRule = Callable[[int, np.ndarray], np.ndarray]
"""FunSearch's form: priority(item, remaining capacities of all bins with room)."""


def pack_pair(rule: PairRule, sizes: Sequence[int], capacity: int) -> list[int]:
    """The bin of each item, in arrival order."""
    return pack_histogram(lambda item, remaining, _: rule(item, remaining), sizes, capacity)


def pack_histogram(rule: HistogramRule, sizes: Sequence[int], capacity: int) -> list[int]:
    """The same for a rule that sees the histogram as it is before the item is packed."""
    remaining = [capacity] * len(sizes)
    histogram = [0] * (capacity + 1)
    chosen = []
    for item in map(int, sizes):
        best, best_score = -1, 0.0
        for index, left in enumerate(remaining):
            if left >= item:
                score = rule(item, left, histogram)
                if best < 0 or score > best_score:
                    best, best_score = index, score
            if left == capacity:
                break  # further unopened bins score the same, and the first of equals wins
        if remaining[best] < capacity:
            histogram[remaining[best]] -= 1
        remaining[best] -= item
        histogram[remaining[best]] += 1
        chosen.append(best)
    return chosen


def pack_vector(rule: VectorRule, sizes: Sequence[int], capacity: int) -> list[int]:
    """The published loop: the rule is given every bin with room, opened or not, as one float array."""
    bins = np.full(len(sizes), float(capacity))
    chosen = []
    for item in sizes:
        valid = np.nonzero(bins - item >= 0)[0]
        best = int(valid[np.argmax(rule(item, bins[valid].copy()))])
        bins[best] -= item
        chosen.append(best)
    return chosen


def bins_used(chosen: Sequence[int]) -> int:
    """Bins that hold at least one item."""
    return len(set(chosen))
