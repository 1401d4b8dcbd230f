"""The search's curve as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from reports.facts import RunFacts
from reports.markup import EMPTY, Markup, figure, tag
from reports.series import baseline_scores, best_so_far, by_generation, points, shown_range
from utils.direction import Direction

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 920, 320, 78, 34, 12
MOST_MARKS = 3000
"""Marks drawn; beyond it every n-th, since a browser should open the file at once."""


def curve_svg(facts: RunFacts) -> Markup:
    """Scores and the best so far by step, or best, averages and candidates by generation; EMPTY without a score."""
    return _by_generation(facts) if facts.is_generational else _by_step(facts)


def _by_step(facts: RunFacts) -> Markup:
    scored = points(facts.nodes)
    if not scored:
        return EMPTY
    first, last = float(min(point.step for point in scored)), float(len(facts.steps))
    if last == first:  # a single step stands in the middle
        first, last = first - 0.5, last + 0.5
    baselines = [value for _, value in baseline_scores(facts.baselines)]
    low, high = shown_range([p.metric for p in scored] + baselines, facts.lower_is_better)
    x, y = _scale(first, last, LEFT, WIDTH - 10), _scale(low, high, HEIGHT - BOTTOM, TOP)
    every = len(scored) // MOST_MARKS + 1
    marks = []
    for point in scored[::every]:
        title = tag("title", f"{facts.named(point.node_id, point.operator)} {point.node_id}: {figure(point.metric)}")
        marks.append(_mark(x(point.step), y, point.metric, low, high, facts.operators[point.operator].colour, title))
    curve = best_so_far(scored, facts.lower_is_better)
    path = [f"M{x(curve[0][0]):.1f} {y(curve[0][1]):.1f}"]
    path += [f"H{x(step):.1f}V{y(metric):.1f}" for step, metric in curve[1:]] + [f"H{x(last):.1f}"]
    best = tag("path", d="".join(path), class_="best-line")
    return _frame(facts, "step", first, last, low, high, [*marks, best])


def _by_generation(facts: RunFacts) -> Markup:
    rows = by_generation(facts.nodes, facts.lower_is_better)
    lines = {
        "best-line": [(r.generation, r.best_so_far) for r in rows],
        "top-line": [(r.generation, r.top_k_average) for r in rows],
        "average-line": [(r.generation, r.average) for r in rows],
    }
    values = [v for line in lines.values() for _, v in line if v is not None]
    if not values:
        return EMPTY
    first, last = rows[0].generation - 0.5, rows[-1].generation + 0.5
    low, high = shown_range(values, facts.lower_is_better)
    x, y = _scale(first, last, LEFT, WIDTH - 10), _scale(low, high, HEIGHT - BOTTOM, TOP)
    most = max(r.candidates for r in rows)
    width = min(60.0, max(1.0, 0.5 * (WIDTH - LEFT) / (last - first)))
    drawn = []
    for row in rows:
        tall = 0.25 * (HEIGHT - BOTTOM - TOP) * row.candidates / max(1, most)
        title = tag("title", f"generation {row.generation}: {row.candidates} candidates, {row.valid} scored")
        left, top = f"{x(row.generation) - width / 2:.1f}", f"{HEIGHT - BOTTOM - tall:.1f}"
        drawn.append(tag("rect", title, x=left, y=top, width=f"{width:.1f}", height=f"{tall:.1f}", class_="bar"))
    for name, line in lines.items():
        known = [(g, v) for g, v in line if v is not None]
        path = "L".join(f"{x(g):.1f} {y(v):.1f}" for g, v in known)
        drawn.append(tag("path", d=f"M{path}", class_=name))
        if len(known) == 1:
            drawn.append(tag("circle", cx=f"{x(known[0][0]):.1f}", cy=f"{y(known[0][1]):.1f}", r=4, class_=name))
    return _frame(facts, "generation", first, last, low, high, drawn)


def legend(facts: RunFacts) -> Markup:
    """What the marks mean."""
    if facts.is_generational:
        entries = [("best-line", "best so far"), ("top-line", "average of the top 5"), ("average-line", "average")]
        keys = [tag("span", tag("i", "", class_=f"key {name}"), text) for name, text in entries]
        return tag("p", *keys, tag("span", tag("i", "", class_="key bar"), "candidates"), class_="legend")
    operators = dict.fromkeys(point.operator for point in points(facts.nodes))
    keys = [tag("span", tag("i", "", class_=f"key op-{facts.operators[name].colour}"), name) for name in operators]
    return tag("p", tag("span", tag("i", "", class_="key best-line"), "best so far"), *keys, class_="legend")


def _mark(
    x: float, y: Callable[[float], float], metric: float, low: float, high: float, colour: str, title: Markup
) -> Markup:
    """A circle; a triangle at the edge for a score outside of the drawn range, pointing to where it is."""
    if low <= metric <= high:
        return tag("circle", title, cx=f"{x:.1f}", cy=f"{y(metric):.1f}", r=3.5, class_=f"op-{colour}")
    edge, tip = (HEIGHT - BOTTOM - 8, 8) if metric < low else (TOP + 8, -8)
    return tag("path", title, d=f"M{x - 4:.1f} {edge}h8l-4 {tip}z", class_=f"beyond op-{colour}")


def _frame(
    facts: RunFacts, name: str, first: float, last: float, low: float, high: float, content: Sequence[Markup]
) -> Markup:
    x, y = _scale(first, last, LEFT, WIDTH - 10), _scale(low, high, HEIGHT - BOTTOM, TOP)
    grid = []
    for i in range(5):
        value = low + (high - low) * i / 4
        at = f"{y(value):.1f}"
        grid.append(tag("line", x1=LEFT, x2=WIDTH - 10, y1=at, y2=at, class_="grid"))
        grid.append(tag("text", f"{value:.5g}", x=LEFT - 6, y=at, class_="tick end"))
    for value in sorted({math.ceil(first), int(first + last) // 2, math.floor(last)}):
        grid.append(tag("text", f"{value:g}", x=f"{x(value):.1f}", y=HEIGHT - 22, class_="tick middle"))
    grid.append(tag("text", name, x=WIDTH - 10, y=HEIGHT - 8, class_="tick end"))
    names = []  # above the marks
    for number, (baseline, value) in enumerate(baseline_scores(facts.baselines)):
        if low <= value <= high:
            at = f"{y(value):.1f}"
            title = tag("title", f"baseline {baseline}: {figure(value)}")
            grid.append(tag("line", title, x1=LEFT, x2=WIDTH - 10, y1=at, y2=at, class_="baseline"))
            left = number % 2 == 1  # names of two that are close do not run into each other
            place = f"{y(value) - 7:.1f}"
            name_at, side = (LEFT + 4, "tick") if left else (WIDTH - 12, "tick end")
            names.append(tag("text", f"baseline {baseline}", x=name_at, y=place, class_=f"{side} name"))
    better = Direction(facts.lower_is_better).word
    across, down = WIDTH - 10 - LEFT, HEIGHT - BOTTOM - TOP
    # An inner svg cuts off what lies outside of the drawn range; the margin leaves marks on the edge whole.
    inside = tag(
        "svg", *content, x=LEFT - 6, y=TOP - 6, width=across + 12, height=down + 12,
        viewBox=f"{LEFT - 6} {TOP - 6} {across + 12} {down + 12}",
    )  # fmt: skip
    return tag(
        "svg", tag("title", f"{facts.unit} by {name}; {better} is better"), *grid, inside, *names,
        viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", class_="chart",
    )  # fmt: skip


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    span = (high - low) or 1.0
    return lambda value: start + (end - start) * (value - low) / span
