"""Compiled packing loops. Each gives the packing of `packing.py`, item for item, and knows nothing of programs.

Bins of equal room are alike to a rule, so the loops keep a heap of bin indices for each amount of room ("level") and
look at levels instead of bins; a tie between levels goes to the lowest bin index, as in a scan over all bins.
"""

from __future__ import annotations

import numpy as np

from problems.bin_packing.jit import compiled


@compiled
def push(heap: np.ndarray, size: np.ndarray, level: int, index: int) -> None:
    """Add a bin to the level's heap."""
    row = heap[level]
    i = size[level]
    size[level] += 1
    while i > 0:
        parent = (i - 1) // 2
        if row[parent] <= index:
            break
        row[i] = row[parent]
        i = parent
    row[i] = index


@compiled
def pop(heap: np.ndarray, size: np.ndarray, level: int) -> int:
    """Take the level's bin of lowest index."""
    row = heap[level]
    top = row[0]
    size[level] -= 1
    n = size[level]
    last = row[n]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and row[child + 1] < row[child]:
            child += 1
        if row[child] >= last:
            break
        row[i] = row[child]
        i = child
    row[i] = last
    return int(top)


@compiled
def pack_ranked(
    order: np.ndarray,
    tied: np.ndarray,
    rows: np.ndarray,
    sizes: np.ndarray,
    capacity: int,
    chosen: np.ndarray,
    most: int,
) -> int:
    """Pack with a ranked table; fills `chosen` with the bin of each item and returns the bins used.

    Stops with `most + 1` as soon as more than `most` bins are open.

    Args:
        order: [row, j] the level of j-th highest score for that row's item, −1 after the last.
        tied: [row, j] True where it scores the same as the one before.
        rows: of each size, the row of the table.
        sizes: int64 items; chosen: int64, as long.
    """
    heap = np.empty((capacity, len(sizes)), dtype=np.int32)
    size = np.zeros(capacity, dtype=np.int64)
    opened = 0
    for position in range(len(sizes)):
        item, row = sizes[position], rows[position]
        best, best_level = -1, -1
        for j in range(order.shape[1]):
            level = order[row, j]
            if level < 0 or (best >= 0 and not tied[row, j]):
                break
            if level == capacity:
                if best < 0:
                    best, best_level = opened, capacity
            elif size[level] > 0 and (best < 0 or heap[level, 0] < best):
                best, best_level = heap[level, 0], level
        if best_level == capacity:
            opened += 1
            if opened > most:
                return opened
        else:
            pop(heap, size, best_level)
        if best_level > item:
            push(heap, size, best_level - item, best)
        chosen[position] = best
    return opened


@compiled
def pack_neighbours(sizes: np.ndarray, capacity: int, chosen: np.ndarray) -> int:
    """FunSearch's Weibull rule over the open bins with room and, as it needs no more, two unopened ones.

    Bins too full for the smallest item are never shown to the rule, so they leave the list.
    """
    n = len(sizes)
    smallest = sizes.min()
    room = np.full(n, float(capacity))
    alive = np.empty(n + 2, dtype=np.int64)
    count, opened = 0, 0
    for position in range(n):
        item = float(sizes[position])
        shown = count
        for index in range(opened, min(n, opened + 2)):
            alive[shown] = index
            shown += 1
        highest = float(capacity) if opened < n else room[alive[:count]].max()
        best, best_score, before, first = -1, 0.0, 0.0, True
        for place in range(shown):
            left = room[alive[place]]
            if left < item:
                continue
            raw = (left - highest) ** 2 / item + left**2 / item**2 + left**2 / item**3
            if left > item:
                raw = -raw
            score = raw if first else raw - before
            before, first = raw, False
            if best < 0 or score > best_score:
                best, best_score = place, score
        index = alive[best]
        if index >= opened:
            count += index + 1 - opened
            opened = index + 1
        room[index] -= item
        chosen[position] = index
        if room[index] < smallest:
            for place in range(best, count - 1):
                alive[place] = alive[place + 1]
            count -= 1
    return len(np.unique(chosen))


def rank_table(table: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(order, tied) of a score table, as `pack_ranked` wants them.

    Args:
        table: float64 [item, capacity + 1]; entry [k, r] is the score of items[k], finite where r >= items[k].
        items: the sizes that occur.
    """
    levels = np.arange(table.shape[1])
    room = levels[None, :] >= items[:, None]
    keyed = np.where(room, -table, np.inf)
    order = np.argsort(keyed, axis=1, kind="stable").astype(np.int16)
    ranked = np.take_along_axis(keyed, order.astype(np.int64), axis=1)
    tied = np.zeros(table.shape, dtype=np.bool_)
    tied[:, 1:] = (ranked[:, 1:] == ranked[:, :-1]) & np.isfinite(ranked[:, 1:])
    order[~np.isfinite(ranked)] = -1
    return order, tied
