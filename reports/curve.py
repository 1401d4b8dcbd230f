"""The search's curve as inline SVG."""

from __future__ import annotations

from collections.abc import Callable

from reports.arena_curve import arena_legend, arena_svg
from reports.facts import RunFacts
from reports.frame import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, frame, ring, scale
from reports.markup import EMPTY, Markup, figure, tag
from reports.series import baseline_scores, best_so_far, by_generation, points, shown_range
from reports.winner import Winner

MOST_MARKS = 3000
"""Marks drawn; beyond it every n-th, since a browser should open the file at once."""


def curve_svg(facts: RunFacts) -> Markup:
    """Ratings by generation in an arena; else scores and the best so far by step, or best, averages and candidates by
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
    winner = _chosen(facts)
    at = facts.numbers.so_far(winner.node_id) if winner and winner.place is not None else None
    return frame(facts, "step", first, last, low, high, [*marks, best, *_ringed(winner, at, x, y)])


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
    x, y = scale(first, last, LEFT, RIGHT), scale(low, high, HEIGHT - BOTTOM, TOP)
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
    winner = _chosen(facts)
    at = next((node.generation for node in facts.nodes if winner and node.id == winner.node_id), None)
    return frame(facts, "generation", first, last, low, high, [*drawn, *_ringed(winner, at, x, y)])


def _chosen(facts: RunFacts) -> Winner | None:
    winner = facts.conclusion.winner
    return winner if winner is not None and winner.chosen else None


def _ringed(
    winner: Winner | None, at: int | None, x: Callable[[float], float], y: Callable[[float], float]
) -> list[Markup]:
    """The winner's ring; nothing where it has no place on the curve: a baseline that won."""
    if winner is None or at is None or winner.metric is None:
        return []
    return [ring(winner, x(at), y(winner.metric))]


def legend(facts: RunFacts) -> Markup:
    """What the marks mean."""
    if facts.is_rated:
        return arena_legend(facts)
    circle = [tag("span", tag("i", "", class_="key ring"), "winner")] if _chosen(facts) else []
    if facts.is_generational:
        entries = [("best-line", "best so far"), ("top-line", "average of the top 5"), ("average-line", "average")]
        keys = [tag("span", tag("i", "", class_=f"key {name}"), text) for name, text in entries]
        return tag("p", *keys, tag("span", tag("i", "", class_="key bar"), "candidates"), *circle, class_="legend")
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
