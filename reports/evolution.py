"""evolution.png: how the search went, one figure a family of problems. By matplotlib, in the child process that draws.

steps         every score by its operator, the best so far
generations   every score, the best so far, the average of all and of the best five, the middle half of the scores where
              all of it fits in; how many programs there were, as low bars
arena         Elo with its interval of every engine that was rated, the champion of each generation
All three: the baselines with their names beside the axes, the winner as a star, whole steps and generations; a triangle
at the edge is a score off the scale.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import Any

from core.state.operators import Colour
from reports.arena_curve import rated_rows
from reports.evolution_scale import BAND, FAINT, WINNER, Point, scale
from reports.facts import RunFacts
from reports.ratings import CHAMPIONS
from reports.series import best_so_far, by_generation, points
from reports.winner import Winner
from utils.counts import counted
from utils.direction import Direction

PALETTE: dict[Colour, str] = {
    "violet": "#7a5af0", "blue": "#2f7fd6", "orange": "#c77700", "teal": "#0f8f83", "pink": "#b0407f",
    "gold": "#8a5a00", "grey": "#6b7687",
}  # fmt: skip
INK = "#1a2029"
CAPTION_COLUMNS = 150
BELOW, MOST_COLUMNS = -0.13, 7
"""The legend stands below the axes, where it hides nothing: so many of their heights, beyond the axis' own name."""


def draw_evolution(facts: RunFacts, figure: Any, axes: Any) -> None:
    """Title, curve of the run's family, baselines, winner, and the verdict below."""
    axes.set_title(f"{facts.problem}   writer: {facts.writer}", fontsize=11, loc="left", parse_math=False)
    axes.set_title(facts.run, fontsize=8, loc="right", color=FAINT, parse_math=False)
    axes.set_ylabel(f"{facts.unit} ({Direction(facts.lower_is_better).word} is better)", parse_math=False)
    shown = _arena(facts, axes) if facts.is_rated else _search(facts, axes)
    if not shown:
        axes.text(0.5, 0.5, "no scored program", ha="center", va="center", transform=axes.transAxes)
    else:
        scale(facts, axes, shown)
        entries = len(axes.get_legend_handles_labels()[1])
        columns = entries if entries <= MOST_COLUMNS else math.ceil(entries / 2)
        legend = axes.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, BELOW), ncols=columns)
        for text in legend.get_texts():
            text.set_parse_math(False)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(axis="y", color="#e3e3e3", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    # parsed as mathematics, the name of a program may be an error
    figure.supxlabel(textwrap.fill(_caption(facts), CAPTION_COLUMNS), fontsize=8, x=0.01, ha="left", parse_math=False)


def _search(facts: RunFacts, axes: Any) -> list[Point]:
    """The scores that the axis is to hold."""
    shown = _generations(facts, axes) if facts.is_generational else _steps(facts, axes)
    winner = facts.conclusion.winner
    if winner is None or winner.metric is None:
        return shown
    if (at := _place(facts, winner)) is not None:
        label = f"{winner_label(winner)}: {winner.metric:.5g}"
        axes.scatter([at], [winner.metric], marker="*", s=190, c=WINNER, zorder=6, label=label)
        shown = [*shown, (at, winner.metric)]
    return shown


def _place(facts: RunFacts, winner: Winner) -> int | None:
    """Where the winner stands on the x axis; None where it has no place there (a baseline)."""
    if not facts.is_generational:
        return None if winner.place is None else facts.numbers.so_far(winner.node_id)
    return next((node.generation for node in facts.nodes if node.id == winner.node_id), None)


def _steps(facts: RunFacts, axes: Any) -> list[Point]:
    scored = points(facts.nodes)
    for operator in dict.fromkeys(point.operator for point in scored):
        spec = facts.operators[operator]
        own = [point for point in scored if point.operator == operator]
        colour = PALETTE[spec.colour]
        axes.scatter([p.step for p in own], [p.metric for p in own], marker=spec.marker, c=colour, s=26, label=operator)
    curve = best_so_far(scored, facts.lower_is_better)
    if curve:
        end = len(facts.steps)
        steps, best = [s for s, _ in curve] + [end], [m for _, m in curve] + [curve[-1][1]]
        axes.step(steps, best, where="post", color=INK, linewidth=1.6, label="best so far")
    axes.set_xlabel("step")
    return [(point.step, point.metric) for point in scored]


def _generations(facts: RunFacts, axes: Any) -> list[Point]:
    rows = by_generation(facts.nodes, facts.lower_is_better)
    members = [node for node in facts.nodes if node.generation is not None and node.is_scored]
    scores = [(n.generation or 0, n.metric_value) for n in members if n.metric_value is not None]
    axes.scatter(
        *zip(*scores, strict=True), s=12, c=FAINT, alpha=0.45, linewidths=0, label="programs"
    ) if scores else None
    by_number: dict[int, list[float]] = {}
    for generation, score in scores:
        by_number.setdefault(generation, []).append(score)
    spread = [(row.generation, *_middle(by_number[row.generation])) for row in rows if row.valid > 3]
    if len(spread) > 1:
        at, low, high = zip(*spread, strict=True)
        axes.fill_between(at, low, high, color=PALETTE["blue"], alpha=0.13, linewidth=0, label=BAND)
    top = [(row.generation, row.top_k_average) for row in rows if row.top_k_average is not None]
    if top:
        axes.plot(*zip(*top, strict=True), color=PALETTE["blue"], linewidth=1.2, label="average of the best five")
    average = [(row.generation, row.average) for row in rows if row.average is not None]
    if average:
        axes.plot(*zip(*average, strict=True), color=PALETTE["teal"], linewidth=1.2, linestyle="-.", label="average")
    if rows:
        _counts([row.generation for row in rows], [row.candidates for row in rows], axes)
    best = [(row.generation, row.best_so_far) for row in rows if row.best_so_far is not None]
    if best:
        axes.step(*zip(*best, strict=True), where="post", color=INK, linewidth=1.8, label="best so far")
    axes.set_xlabel("generation")
    return [*scores, *best]


def _counts(generations: Sequence[int], programs: Sequence[int], axes: Any) -> None:
    """How many programs each generation had, failed ones too: low bars at the bottom, the tallest with its number."""
    beside = axes.twinx()
    beside.bar(generations, programs, width=0.5, color=FAINT, alpha=0.2, linewidth=0)
    beside.set_ylim(0, 9 * max(programs))
    beside.set_axis_off()
    axes.set_zorder(beside.get_zorder() + 1)
    axes.patch.set_visible(False)
    tallest = programs.index(max(programs))
    at = (generations[tallest], programs[tallest])
    told = counted(programs[tallest], "program")
    beside.annotate(told, at, (0, 2), textcoords="offset points", fontsize=7, color=FAINT, ha="center")


def _middle(scores: Sequence[float]) -> tuple[float, float]:
    """The first and the third quartile of a generation's scores."""
    import numpy as np

    low, high = np.percentile(np.array(scores, dtype=float), [25, 75])
    return float(low), float(high)


def _arena(facts: RunFacts, axes: Any) -> list[Point]:
    """Engines with their intervals in each generation that rated them; the champions joined."""
    shown: list[Point] = []
    champions: list[tuple[float, float, str]] = []
    named: set[str] = set()
    for told in facts.generations:
        rows = rated_rows(told)
        for place, row in enumerate(rows):
            is_champion = row["node_id"] in told.promoted[:1]
            beside = told.generation + 0.09 * (place - (len(rows) - 1) / 2)
            shown += [(beside, row[end]) for end in ("elo", "low", "high") if isinstance(row.get(end), int | float)]
            _rated(axes, beside, row, is_champion, named)
            if is_champion:
                champions.append((beside, row["elo"], str(row.get("name", ""))))
    if champions:
        at, elo, names = zip(*champions, strict=True)
        axes.plot(at, elo, color=INK, linewidth=1.4, label=CHAMPIONS)
        axes.scatter([at[-1]], [elo[-1]], marker="*", s=190, c=WINNER, zorder=6, label=f"winner {names[-1][:30]}")
    axes.set_xlabel("generation (0: the baselines)")
    return shown


def _rated(axes: Any, at: float, row: dict[str, Any], is_champion: bool, named: set[str]) -> None:
    """One engine's point with its 95 % interval, labelled where it is of its kind the first."""
    low, high = row.get("low"), row.get("high")
    reach = [[row["elo"] - low], [high - row["elo"]]] if low is not None and high is not None else None
    colour = INK if is_champion else PALETTE["blue"]
    kind = "champion's rating, 95 %" if is_champion else "rating, 95 %"
    label = None if kind in named else kind
    named.add(kind)
    axes.errorbar([at], [row["elo"]], yerr=reach, fmt="o", ms=4, color=colour, elinewidth=0.9, capsize=2, label=label)


def _caption(facts: RunFacts) -> str:
    """The winner with its own scores, and the verdict."""
    winner, verdict = facts.conclusion.winner, facts.conclusion.verdict
    if winner is None or winner.metric is None:
        return verdict.text
    final = "" if winner.final_metric is None else f", final {winner.final_metric:.6g}"
    if winner.final_interval is not None and winner.final_metric is not None:
        final += " (95 % {:.6g} to {:.6g})".format(*winner.final_interval)
    return f"{winner_label(winner)}: validation {winner.metric:.6g}{final}. {verdict.text}"


def winner_label(winner: Winner) -> str:
    return f"{'winner' if winner.chosen else 'best so far'} {winner.name}"
