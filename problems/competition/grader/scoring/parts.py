"""Splits hidden rows, once and by seed: a validation part steers, a final part is scored at the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ..tables.times import newest


def split_hidden(
    answers: Any, targets: list[str], *, how: str, seed: int, order: Any = None, groups: Any = None
) -> dict[str, Any]:
    """Positions of the answers by part, each part in an order whose every eighth row is a block of its own.

    Args:
        how: `random`, `stratified`, `time` (validation is the older half) or `group` (no group is in both).
        order: time of each row, for `time`.
        groups: group of each row, for `group`.
    """
    count, random = len(answers), np.random.default_rng(seed)
    if how == "time":
        rows, times = np.argsort(np.asarray(order), kind="stable"), np.asarray(order)
        newer = newest(times, count - count // 2)
        halves = rows[: count - newer], rows[count - newer :]
    elif how == "group":
        halves = _halve_groups(np.asarray(groups), random)
    else:
        rows = _spread(answers[targets[0]], random, stratify=how == "stratified")
        halves = rows[::2], rows[1::2]
    names = ("validation", "final")
    return {
        name: [int(row) for row in half[_spread(answers[targets[0]].iloc[half], random, stratify=True)]]
        for name, half in zip(names, halves, strict=True)
    }


def _halve_groups(groups: Any, random: Any) -> tuple[Any, Any]:
    """Each group, in a drawn order, goes to the half that has fewer rows: no half is empty."""
    labels = groups.astype(str)
    names, sizes = np.unique(labels, return_counts=True)
    rows, first = [0, 0], []
    for place in random.permutation(len(names)):
        half = int(rows[1] < rows[0])
        rows[half] += sizes[place]
        first += [names[place]] if half == 0 else []
    inside = np.isin(labels, first)
    return np.flatnonzero(inside), np.flatnonzero(~inside)


def _spread(target: Any, random: Any, *, stratify: bool) -> Any:
    """A shuffled order of positions; stratified, rows of like target are neighbours, so that strides are alike."""
    shuffled = random.permutation(len(target))
    if not stratify:
        return shuffled
    values = target.iloc[shuffled]
    codes = pd.Series(pd.factorize(values, sort=True)[0])
    return shuffled[np.argsort(codes.to_numpy(), kind="stable")]
