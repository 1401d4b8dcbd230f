"""The numbers behind the curves: pure functions of nodes, shared by the PNG plots and the report's SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.state.node import Node
from core.state.numbering import Numbering
from reports.winner import titled
from utils.direction import Direction

LARGEST = 1e300
"""Beyond it, two scores may lie further apart than any float says: what an evaluator may give a program that failed."""
TOP_K = 5
"""Nodes of a generation whose average is drawn, and stands in metrics.json."""


@dataclass(frozen=True, slots=True)
class Point:
    """A scored node of a step policy."""

    step: int
    """Steps up to it, itself included."""
    metric: float
    operator: str
    node_id: str


@dataclass(frozen=True, slots=True)
class Generation:
    """One generation of a population, in the problem's unit; None where nothing was scored."""

    generation: int
    best_so_far: float | None
    average: float | None
    top_k_average: float | None
    candidates: int
    valid: int


def points(nodes: Sequence[Node]) -> list[Point]:
    """Scored nodes in order.

    Args:
        nodes: all of the journal.
    """
    numbers = Numbering((node.id, node.operator) for node in nodes)
    return [
        Point(numbers.so_far(node.id), node.metric_value, node.operator, node.id)
        for node in nodes
        if node.is_scored and node.metric_value is not None
    ]


def best_so_far(scored: Sequence[Point], lower_is_better: bool) -> list[tuple[int, float]]:
    """(step, best metric up to it) wherever it changed."""
    direction = Direction(lower_is_better)
    curve: list[tuple[int, float]] = []
    for point in scored:
        if not curve or direction.better(point.metric, curve[-1][1]):
            curve.append((point.step, point.metric))
    return curve


def by_generation(nodes: Sequence[Node], lower_is_better: bool, top_k: int = TOP_K) -> list[Generation]:
    """One row a generation; baselines and nodes without a generation count only towards the best so far."""
    direction = Direction(lower_is_better)
    groups: dict[int, list[Node]] = {}
    best: float | None = None
    for node in nodes:
        if node.generation is not None:
            groups.setdefault(node.generation, []).append(node)
        elif node.is_scored and direction.better(node.metric_value, best):
            best = node.metric_value
    rows = []
    for generation in sorted(groups):
        members = groups[generation]
        scores = direction.ranked(
            (n.metric_value for n in members if n.is_scored and n.metric_value is not None), float
        )
        if scores and direction.better(scores[0], best):
            best = scores[0]
        top = scores[:top_k]
        rows.append(
            Generation(
                generation=generation,
                best_so_far=best,
                average=sum(scores) / len(scores) if scores else None,
                top_k_average=sum(top) / len(top) if top else None,
                candidates=len(members),
                valid=len(scores),
            )
        )
    return rows


@dataclass(frozen=True, slots=True)
class Reference:
    """A baseline with its score on validation."""

    title: str
    """As in every table: `baseline ridge`, `your program`."""
    metric: float
    node_id: str


def baseline_scores(baselines: Sequence[Mapping[str, Any]]) -> list[Reference]:
    """The baselines that have a validation score."""
    return [
        Reference(titled(row), float(row["metric"]), str(row.get("node_id", "")))
        for row in baselines
        if isinstance(row.get("metric"), int | float) and not isinstance(row.get("metric"), bool)
    ]


def shown_range(values: Sequence[float], lower_is_better: bool) -> tuple[float, float]:
    """Axis limits that hold the best and most of the rest: a single wild score must not flatten the curve.

    From the best value to the worst that is no further from it than four times the median is, with a margin. Where half
    of all are as good as the best, the third quartile stands for the median. What is beyond `LARGEST` is off the scale.
    """
    ordered = Direction(lower_is_better).ranked((v for v in values if abs(v) <= LARGEST), float)
    if not ordered:
        return 0.0, 1.0
    best, quarters = ordered[0], (ordered[len(ordered) // 2], ordered[3 * len(ordered) // 4], ordered[-1])
    middle = next((value for value in quarters if value != best), best)
    reach = 4 * abs(middle - best)
    worst = max((v for v in ordered if abs(v - best) <= reach), key=lambda v: abs(v - best))
    low, high = min(best, worst), max(best, worst)
    margin = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    return low - margin, high + margin
