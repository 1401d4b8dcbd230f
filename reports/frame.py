"""The frame of a curve as inline SVG: grid, axes, baselines with their names beside it, the ring round the winner."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from reports.facts import RunFacts
from reports.markup import Markup, figure, tag
from reports.series import Reference, baseline_scores
from reports.winner import Winner, who
from utils.direction import Direction

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 920, 320, 78, 34, 12
RIGHT = WIDTH - 170
"""The curve's right edge; beside it stand the baselines."""
FAR = 1e6
LINE, LONGEST, TICKS = 14, 20, 6
"""Pixels of a line of text there, and characters of a name."""


def ring(winner: Winner, x: float, y: float) -> Markup:
    """Around the winner's mark."""
    title = tag("title", f"winner, {who(winner)}: {figure(winner.metric)}")
    return tag("circle", title, cx=f"{x:.1f}", cy=f"{y:.1f}", r=7, class_="ring")


def frame(
    facts: RunFacts, axis: str, first: float, last: float, low: float, high: float, content: Sequence[Markup]
) -> Markup:
    x, y = scale(first, last, LEFT, RIGHT), scale(low, high, HEIGHT - BOTTOM, TOP)
    grid = []
    for value in ticks(low, high):
        at = f"{y(value):.1f}"
        grid.append(tag("line", x1=LEFT, x2=RIGHT, y1=at, y2=at, class_="grid"))
        grid.append(tag("text", f"{value:.6g}", x=LEFT - 6, y=at, class_="tick end"))
    for value in {round(value) for value in ticks(first, last)}:
        if first <= value <= last:
            grid.append(tag("text", f"{value:g}", x=f"{x(value):.1f}", y=HEIGHT - 22, class_="tick middle"))
    grid.append(tag("text", axis, x=RIGHT, y=HEIGHT - 8, class_="tick end"))
    names = []
    shown = [one for one in baseline_scores(facts.baselines) if low <= one.metric <= high]
    free = float(TOP)
    for reference in sorted(shown, key=lambda one: y(one.metric)):
        at, free = f"{y(reference.metric):.1f}", max(y(reference.metric), free)
        grid.append(tag("line", x1=LEFT, x2=RIGHT, y1=at, y2=at, class_="baseline"))
        for line in _told(facts, reference):
            title = tag("title", f"{reference.title}: {figure(reference.metric)}")
            names.append(tag("text", line, title, x=RIGHT + 6, y=f"{free:.1f}", class_="tick"))
            free += LINE
    better = Direction(facts.lower_is_better).word
    across, down = RIGHT - LEFT, HEIGHT - BOTTOM - TOP
    # An inner svg cuts off what lies outside of the drawn range; the margin leaves marks on the edge whole.
    inside = tag(
        "svg", *content, x=LEFT - 6, y=TOP - 6, width=across + 12, height=down + 12,
        viewBox=f"{LEFT - 6} {TOP - 6} {across + 12} {down + 12}",
    )  # fmt: skip
    return tag(
        "svg", tag("title", f"{facts.unit} by {axis}; {better} is better"), *grid, inside, *names,
        viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", class_="chart",
    )  # fmt: skip


def _told(facts: RunFacts, reference: Reference) -> list[str]:
    """The lines beside a baseline, at the right of the curve, where they hide nothing."""
    name = f"{reference.title.removeprefix('baseline ')[:LONGEST]} {reference.metric:.4g}"
    return [name, "starting champion"] if reference.node_id == facts.starting_champion else [name]


def ticks(low: float, high: float) -> list[float]:
    """A few round numbers between two ends: 1, 2 or 5 times a power of ten apart."""
    rough = (high - low) / TICKS or 1.0
    exponent = math.floor(math.log10(rough))
    step = next(10.0**exponent * n for n in (1, 2, 5, 10) if 10.0**exponent * n >= rough * 0.999)
    places = range(math.ceil(low / step), math.floor(high / step) + 1)
    return [round(n * step, max(0, -exponent)) for n in places]


def scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """From a value to its pixel; what lies far outside is somewhere outside, since a browser draws no infinite line."""
    span = (high - low) or 1.0
    return lambda value: max(-FAR, min(FAR, start + (end - start) * ((value - low) / span)))
