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
        how: `random`, `stratified`, `time` (validation is the older half), `group` or `distinct` (no group is in
            both).
        order: time of each row, for `time`.
        groups: group of each row, for `group` and `distinct`.
    """
    count, random = len(answers), np.random.default_rng(seed)
    if how == "time":
        rows, times = np.argsort(np.asarray(order), kind="stable"), np.asarray(order)
        newer = newest(times, count - count // 2)
        halves = rows[: count - newer], rows[count - newer :]
    elif how in ("group", "distinct"):
        halves = _halve_groups(np.asarray(groups), random)
    else:
        rows = _spread(answers[targets], random, stratify=how == "stratified")
        halves = rows[::2], rows[1::2]
    names = ("validation", "final")
    return {
        name: [int(row) for row in half[_spread(answers[targets].iloc[half], random, stratify=True)]]
        for name, half in zip(names, halves, strict=True)
    }


DRAWN = {"time": "stretches of time", "group": "whole groups", "distinct": "different rows"}
"""How hidden rows were parted → what is drawn of a part, where that is not one row by itself: programs err alike on the
rows of a group, and on those that come one after another."""
FEWEST_MOMENTS = 20
"""Of fewer different times in a part, its rows in order of time are drawn in their place."""


def places_of(how: str, *, order: Any, groups: Any) -> list[int] | None:
    """Of each row the number of its time, or of its group; None where each row is evidence by itself.

    Args: as `split_hidden` has them.
    """
    if how not in DRAWN:
        return None
    return [int(code) for code in pd.factorize(np.asarray(order if how == "time" else groups), sort=how == "time")[0]]


def units_of(places: Any, how: str) -> tuple[Any, int]:
    """(of each row of a part the number of what is drawn whole, from 0; how many of these are drawn in a row).

    Args:
        places: of the part's rows, as `places_of` has them.
    """
    units = np.unique(places, return_inverse=True)[1]
    if how == "time" and units.max() + 1 < FEWEST_MOMENTS:
        units = np.argsort(np.argsort(units, kind="stable"))
    count = int(units.max()) + 1
    return units, round(count ** (1 / 3)) if how == "time" else 1  # as long as Hall, Horowitz & Jing 1995 advise


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


def _spread(targets: Any, random: Any, *, stratify: bool) -> Any:
    """A shuffled order of positions; stratified, rows of like targets are neighbours, so that strides are alike."""
    shuffled = random.permutation(len(targets))
    return shuffled[np.argsort(strata_of(targets.iloc[shuffled]), kind="stable")] if stratify else shuffled


def strata_of(targets: Any) -> Any:
    """Of each row the place of its targets in their order: of several, the one with the rarest value comes first."""
    codes = {name: pd.factorize(targets[name], sort=True)[0] for name in targets}
    rarity = {name: np.bincount(found[found >= 0], minlength=1).min() for name, found in codes.items()}
    first, *others = sorted(codes, key=lambda name: int(rarity[name]))
    places = codes[first]
    for name in others:
        places = pd.factorize(places * (len(targets) + 1) + codes[name], sort=True)[0]
    return places
