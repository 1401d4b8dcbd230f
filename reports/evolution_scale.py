"""The score's axis of evolution.png: its limits, the baselines beside it, and what lies off the scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from reports.facts import RunFacts
from reports.series import Reference, baseline_scores, shown_range
from utils.direction import Direction

FAINT, WINNER = "#79706e", "#d62728"
MOST_BASELINES = 8
LONGEST = 28
"""Characters of a baseline's name."""
MARGIN = 0.04
"""Of the height, beyond a baseline that stands at the edge."""
BAND = "middle half"
"""Label of an area that is drawn only where all of it is within the limits."""
Point = tuple[float, float]
"""(place on the x axis, score)."""


def scale(facts: RunFacts, axes: Any, shown: Sequence[Point]) -> None:
    """Limits that hold most of what is shown, the baselines near to it, and marks of what they leave out."""
    low, high = shown_range([score for _, score in shown], facts.lower_is_better)
    baselines = _baselines(facts, axes, low, high)
    margin = MARGIN * (high - low)
    low, high = min([low, *(v - margin for v in baselines)]), max([high, *(v + margin for v in baselines)])
    axes.set_ylim(low, high)
    above = [at for at, score in shown if score > high]
    below = [at for at, score in shown if score < low]
    for marker, edge, out in (("^", high, above), ("v", low, below)):
        if out:
            label = f"off the scale ({len(out)})"
            axes.scatter(out, [edge] * len(out), marker=marker, s=22, c=FAINT, clip_on=False, zorder=5, label=label)
    for band in axes.collections:
        if band.get_label() == BAND and not _within(band, low, high):
            band.remove()


def _within(band: Any, low: float, high: float) -> bool:
    ends = band.get_datalim(band.axes.transData)
    return bool(low <= ends.y0 and ends.y1 <= high)


def _baselines(facts: RunFacts, axes: Any, low: float, high: float) -> list[float]:
    """Dashed lines, named at the right edge outside of the axes. What is ahead of all scores is always told, what would
    flatten the curve is not."""
    reach = (high - low) / 2
    near = (-math.inf, high + reach) if facts.lower_is_better else (low - reach, math.inf)
    inside = [one for one in baseline_scores(facts.baselines) if near[0] <= one.metric <= near[1]]
    inside = Direction(facts.lower_is_better).ranked(inside, lambda one: one.metric)[:MOST_BASELINES]
    for reference in inside:
        _line(facts, axes, reference)
    return [reference.metric for reference in inside]


def _line(facts: RunFacts, axes: Any, reference: Reference) -> None:
    winner = facts.conclusion.winner
    won = winner is not None and winner.chosen and winner.node_id == reference.node_id
    role = "\nthe winner" if won else "\nstarting champion" if reference.node_id == facts.starting_champion else ""
    colour, name = WINNER if won else FAINT, reference.title.removeprefix("baseline ")[:LONGEST]
    axes.axhline(reference.metric, color=colour, linewidth=0.8, linestyle="--")
    axes.annotate(
        f"{name} {reference.metric:.4g}{role}", (1.008, reference.metric), xycoords=axes.get_yaxis_transform(),
        ha="left", va="center", fontsize=7, color=colour, parse_math=False, annotation_clip=False,
    )  # fmt: skip
