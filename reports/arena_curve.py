"""The arena's curve as inline SVG: every engine that was rated, its interval, and the champion of each generation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.events import GenerationFinished
from reports.facts import RunFacts
from reports.frame import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, frame, ring, scale
from reports.markup import Markup, figure, join, tag
from reports.ratings import CHAMPIONS
from reports.series import baseline_scores, shown_range

BESIDE = 0.6
"""The share of a generation's width over which its engines stand beside each other."""


def arena_svg(facts: RunFacts) -> Markup:
    """Elo by generation; generation 0 rated the engines that the search began with."""
    rated = [(told, rows) for told in facts.generations if (rows := rated_rows(told))]
    ends = [row[end] for _, rows in rated for row in rows for end in ("elo", "low", "high") if row.get(end) is not None]
    ends += [reference.metric for reference in baseline_scores(facts.baselines)]
    low, high = shown_range(ends, facts.lower_is_better)
    first, last = rated[0][0].generation - 0.5, rated[-1][0].generation + 0.5
    x, y = scale(first, last, LEFT, RIGHT), scale(low, high, HEIGHT - BOTTOM, TOP)
    drawn, crowned, line = [], None, []
    for told, rows in rated:
        for place, row in enumerate(rows):
            at = x(told.generation + BESIDE * ((place + 0.5) / len(rows) - 0.5))
            is_champion = row["node_id"] in told.promoted[:1]
            drawn.append(_engine(row, told.generation, at, y, is_champion))
            if is_champion:
                crowned = (at, y(row["elo"]))
                line.append(f"{at:.1f} {crowned[1]:.1f}")
    drawn.append(tag("path", d=f"M{'L'.join(line)}", class_="best-line") if len(line) > 1 else join([]))
    winner = facts.conclusion.winner
    if winner is not None and winner.chosen and crowned is not None:
        drawn.append(ring(winner, *crowned))
    return frame(facts, "generation", first, last, low, high, drawn)


def arena_legend(facts: RunFacts) -> Markup:
    kinds = [("op-blue", "rating, with its 95 % interval"), ("best-line", CHAMPIONS)]
    kinds += [("ring", "winner")] if facts.conclusion.winner and facts.conclusion.winner.chosen else []
    return tag("p", *(tag("span", tag("i", "", class_=f"key {key}"), text) for key, text in kinds), class_="legend")


def rated_rows(told: GenerationFinished) -> Sequence[dict[str, Any]]:
    """Engines of a generation with a rating, the strongest first."""
    rows = [row for row in told.ratings if isinstance(row.get("elo"), int | float)]
    return sorted(rows, key=lambda row: -row["elo"])


def _engine(row: dict[str, Any], generation: int, at: float, y: Any, is_champion: bool) -> Markup:
    low, high = row.get("low"), row.get("high")
    interval = f", 95 % {low:.0f} to {high:.0f}" if low is not None and high is not None else ""
    title = tag("title", f"generation {generation}, {row.get('name', '')}: {figure(row['elo'])}{interval}")
    kind = "best-line" if is_champion else "op-blue"
    mark = tag("circle", title, cx=f"{at:.1f}", cy=f"{y(row['elo']):.1f}", r=4, class_=kind)
    if not interval:
        return mark
    bar = tag("path", d=f"M{at:.1f} {y(low):.1f}V{y(high):.1f}", class_="interval")
    return join([bar, mark])
