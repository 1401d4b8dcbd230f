"""Rules to measure against, re-implemented from their published descriptions.

The texts are programs in the form of a candidate; FunSearch's Weibull rule depends on the order of the bins and exists
as a function over all of them.
"""

from __future__ import annotations

import numpy as np

FIRST_FIT = '''\
def score_bin(item, remaining_capacity):
    """First fit: every bin with room is as good, so the first one wins."""
    return 0
'''

BEST_FIT = '''\
def score_bin(item, remaining_capacity):
    """Best fit: the fullest bin with room."""
    return item - remaining_capacity
'''

SUM_OF_SQUARES = '''\
def score_bin(item, remaining_capacity, histogram):
    """Sum-of-Squares (Csirik et al. 2006): keep the sum of squared gap counts of partly filled bins small.

    An empty bin leaves no count behind, a full one adds none; of equals the roomiest bin.
    """
    gap = remaining_capacity - item
    left = 1 - 2 * histogram[remaining_capacity] if remaining_capacity < CAPACITY else 0
    made = 2 * histogram[gap] + 1 if gap > 0 else 0
    return gap / 1000 - left - made
'''

FUNSEARCH_OR = '''\
def score_bin(item, remaining_capacity):
    """The ladder over the gap that FunSearch found for the OR-Library (Romera-Paredes et al. 2024)."""
    gap = remaining_capacity - item
    if gap <= 2:
        return 4
    if gap <= 3:
        return 3
    if gap <= 5:
        return 2
    if gap <= 7:
        return 1
    if gap <= 9:
        return 0.9
    if gap <= 12:
        return 0.95
    if gap <= 15:
        return 0.97
    if gap <= 21:
        return 0.98
    return 0.99
'''


def sum_of_squares(capacity: int) -> str:
    """The Sum-of-Squares program for bins of that capacity."""
    return SUM_OF_SQUARES.replace("CAPACITY", str(capacity))


def funsearch_weibull(item: float, bins: np.ndarray) -> np.ndarray:
    """FunSearch's rule for Weibull items: powers of the room over the item, then differences between neighbours.

    Its last step subtracts the score of the bin before, so that it depends on the order of the bins and on how many
    unopened ones it is shown (a second unopened bin scores 0).
    """
    score: np.ndarray = (bins - bins.max()) ** 2 / item + bins**2 / item**2 + bins**2 / item**3
    score = np.where(bins > item, -score, score)
    score[1:] = score[1:] - score[:-1]
    return score
