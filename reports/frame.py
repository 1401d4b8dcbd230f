"""The frame of a curve as inline SVG: grid, axes, baselines with their names, the ring around the winner."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from reports.facts import RunFacts
from reports.markup import Markup, figure, tag
from reports.series import baseline_scores
from reports.winner import Winner, who
from utils.direction import Direction

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 920, 320, 78, 34, 12
RIGHT = WIDTH - 10


def ring(winner: Winner, x: float, y: float) -> Markup:
    """Around the winner's mark."""
    title = tag("title", f"winner, {who(winner)}: {figure(winner.metric)}")
    return tag("circle", title, cx=f"{x:.1f}", cy=f"{y:.1f}", r=7, class_="ring")


def frame(
    facts: RunFacts, axis: str, first: float, last: float, low: float, high: float, content: Sequence[Markup]
) -> Markup:
    x, y = scale(first, last, LEFT, RIGHT), scale(low, high, HEIGHT - BOTTOM, TOP)
    grid = []
    for i in range(5):
        value = low + (high - low) * i / 4
        at = f"{y(value):.1f}"
        grid.append(tag("line", x1=LEFT, x2=RIGHT, y1=at, y2=at, class_="grid"))
        grid.append(tag("text", f"{value:.5g}", x=LEFT - 6, y=at, class_="tick end"))
    for value in sorted({math.ceil(first), int(first + last) // 2, math.floor(last)}):
        grid.append(tag("text", f"{value:g}", x=f"{x(value):.1f}", y=HEIGHT - 22, class_="tick middle"))
    grid.append(tag("text", axis, x=RIGHT, y=HEIGHT - 8, class_="tick end"))
    names = []  # above the marks
    for number, reference in enumerate(baseline_scores(facts.baselines)):
        if low <= reference.metric <= high:
            name = reference.title + (", starting champion" if reference.node_id == facts.starting_champion else "")
            at = f"{y(reference.metric):.1f}"
            title = tag("title", f"{name}: {figure(reference.metric)}")
            grid.append(tag("line", title, x1=LEFT, x2=RIGHT, y1=at, y2=at, class_="baseline"))
            left = number % 2 == 1  # names of two that are close do not run into each other
            place = f"{y(reference.metric) - 7:.1f}"
            name_at, side = (LEFT + 4, "tick") if left else (WIDTH - 12, "tick end")
            names.append(tag("text", name, x=name_at, y=place, class_=f"{side} name"))
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


def scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    span = (high - low) or 1.0
    return lambda value: start + (end - start) * (value - low) / span
