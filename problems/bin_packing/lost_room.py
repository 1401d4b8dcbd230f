"""What the excess of a packing is made of: how full the bins are whose room was never used."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from problems.bin_packing.instances import Instance

SHARES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Of the capacity: up to so much is left in the bins of a group."""


@cache
def groups_of(capacity: int) -> list[tuple[int, int]]:
    """(least, most) room left in the bins of each group."""
    most = sorted({max(1, round(share * capacity)) for share in SHARES})
    return [(before + 1, last) for before, last in zip([0, *most], most, strict=False)]


@cache
def _group_of(capacity: int) -> np.ndarray:
    """The place of the group of each room, from 0 up."""
    return np.searchsorted([most for _, most in groups_of(capacity)], np.arange(capacity + 1))


def bins_and_room(instance: Instance, bins: Any) -> tuple[int, list[int]]:
    """(bins used, units of room that are left in the bins of each group) of one packing.

    Args:
        bins: the bin of each item.
    """
    loads = np.bincount(bins, weights=instance.sizes)
    left = instance.capacity - loads[loads > 0].astype(np.int64)
    group = _group_of(instance.capacity)
    units = np.bincount(group[left], weights=left, minlength=len(groups_of(instance.capacity)))
    return len(left), [int(lost) for lost in units]


def told_room(left: Sequence[Sequence[int]], instances: Sequence[Instance]) -> dict[str, float]:
    """What each group adds to the excess over all instances; together a little more than it, since bounds are whole."""
    capacity = instances[0].capacity
    bound = sum(instance.lower_bound for instance in instances) * capacity
    groups = zip(groups_of(capacity), zip(*left, strict=True), strict=True)
    return {f"lost in bins with {least} to {most} left": sum(units) / bound for (least, most), units in groups}
