"""The search's curve as inline SVG."""

from __future__ import annotations

from collections.abc import Callable

from reports.arena_curve import arena_legend, arena_svg
from reports.facts import RunFacts
from reports.frame import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, frame, ring, scale
from reports.markup import EMPTY, Markup, figure, tag
from reports.series import baseline_scores, best_so_far, by_generation, points, shown_range

MOST_MARKS = 3000
"""Marks drawn; beyond it every n-th, since a browser should open the file at once."""


def curve_svg(facts: RunFacts) -> Markup:
    """Ratings by generation in an arena; else scores and the best so far by step, or programs, best and average by
    generation; EMPTY without a score."""
    if facts.is_rated:
        return arena_svg(facts)
    return _by_generation(facts) if facts.is_generational else _by_step(facts)


def _by_step(facts: RunFacts) -> Markup:
    scored = points(facts.nodes)
    if not scored:
        return EMPTY
    first, last = float(min(point.step for point in scored)), float(len(facts.steps))
    if last == first:  # a single step stands in the middle
        first, last = first - 0.5, last + 0.5
    baselines = [reference.metric for reference in baseline_scores(facts.baselines)]
    low, high = shown_range([p.metric for p in scored] + baselines, facts.lower_is_better)
    x, y = scale(first, last, LEFT, RIGHT), scale(low, high, HEIGHT - BOTTOM, TOP)
    every = len(scored) // MOST_MARKS + 1
    marks = []
    for point in scored[::every]:
        title = tag("title", f"{facts.named(point.node_id, point.operator)} {point.node_id}: {figure(point.metric)}")
        marks.append(_mark(x(point.step), y, point.metric, low, high, facts.operators[point.operator].colour, title))
    curve = best_so_far(scored, facts.lower_is_better)
    path = [f"M{x(curve[0][0]):.1f} {y(curve[0][1]):.1f}"]
    path += [f"H{x(step):.1f}V{y(metric):.1f}" for step, metric in curve[1:]] + [f"H{x(last):.1f}"]
    best = tag("path", d="".join(path), class_="best-line")
    return frame(facts, "step", first, last, low, high, [*marks, best, *_ringed(facts, x, y)])


def _by_generation(facts: RunFacts) -> Markup:
    rows = by_generation(facts.nodes, facts.lower_is_better)
    lines = {
        "best-line": [(r.generation, r.best_so_far) for r in rows],
        "top-line": [(r.generation, r.top_k_average) for r in rows],
    }
    scored = [node for node in facts.nodes if node.generation is not None and node.is_scored]
    best = [value for _, value in lines["best-line"] if value is not None]
    if not best:
        return EMPTY
    first, last = rows[0].generation - 0.5, rows[-1].generation + 0.5
    values = [node.metric_value for node in scored if node.metric_value is not None]
    near = [one.metric for one in baseline_scores(facts.baselines)]
    low, high = shown_range([*values, *best, *near], facts.lower_is_better)
    x, y = scale(first, last, LEFT, RIGHT), scale(low, high, HEIGHT - BOTTOM, TOP)
    drawn = []
    for node in scored[:: len(scored) // MOST_MARKS + 1]:
        title = tag("title", f"{facts.named(node.id, node.operator)} {node.id}: {figure(node.metric_value)}")
        drawn.append(_mark(x(node.generation or 0), y, node.metric_value or 0.0, low, high, "grey", title))
    for name, line in lines.items():
        known = [(g, v) for g, v in line if v is not None]
        path = "L".join(f"{x(g):.1f} {y(v):.1f}" for g, v in known)
        drawn.append(tag("path", d=f"M{path}", class_=name))
        if len(known) == 1:
            drawn.append(tag("circle", cx=f"{x(known[0][0]):.1f}", cy=f"{y(known[0][1]):.1f}", r=4, class_=name))
    return frame(facts, "generation", first, last, low, high, [*drawn, *_ringed(facts, x, y)])


def _place(facts: RunFacts) -> int | None:
    """Where the winner stands on the x axis; None before it is chosen, and for a baseline, which has no place there."""
    winner = facts.conclusion.winner
    if winner is None or not winner.chosen or winner.metric is None:
        return None
    if facts.is_generational:
        return next((node.generation for node in facts.nodes if node.id == winner.node_id), None)
    return None if winner.place is None else facts.numbers.so_far(winner.node_id)


def _ringed(facts: RunFacts, x: Callable[[float], float], y: Callable[[float], float]) -> list[Markup]:
    winner, at = facts.conclusion.winner, _place(facts)
    return [] if winner is None or at is None else [ring(winner, x(at), y(winner.metric or 0.0))]


def legend(facts: RunFacts) -> Markup:
    """What the marks mean."""
    if facts.is_rated:
        return arena_legend(facts)
    circle = [tag("span", tag("i", "", class_="key ring"), "winner")] if _place(facts) is not None else []
    if facts.is_generational:
        entries = [("op-grey", "program"), ("best-line", "best so far"), ("top-line", "average of the best five")]
        keys = [tag("span", tag("i", "", class_=f"key {name}"), text) for name, text in entries]
        return tag("p", *keys, *circle, class_="legend")
    operators = dict.fromkeys(point.operator for point in points(facts.nodes))
    keys = [tag("span", tag("i", "", class_=f"key op-{facts.operators[name].colour}"), name) for name in operators]
    return tag("p", tag("span", tag("i", "", class_="key best-line"), "best so far"), *keys, *circle, class_="legend")


def _mark(
    x: float, y: Callable[[float], float], metric: float, low: float, high: float, colour: str, title: Markup
) -> Markup:
    """A circle; a triangle at the edge for a score outside of the drawn range, pointing to where it is."""
    if low <= metric <= high:
        return tag("circle", title, cx=f"{x:.1f}", cy=f"{y(metric):.1f}", r=3.5, class_=f"op-{colour}")
    edge, tip = (HEIGHT - BOTTOM - 8, 8) if metric < low else (TOP + 8, -8)
    return tag("path", title, d=f"M{x - 4:.1f} {edge}h8l-4 {tip}z", class_=f"beyond op-{colour}")
