"""Improvements of a search: what counts as one, for every table, and for the page, which counts by the same rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.state.node import Node
from core.state.operators import FREE_OPERATORS
from utils.direction import Direction


def with_gains(nodes: Iterable[Node], lower_is_better: bool) -> Iterator[tuple[Node, float | None]]:
    """Each node with what it gained over the best before it, in the metric's unit; None where it improved nothing.

    A step of the search is an improvement if its score is better than every score before it, those of baselines and of
    your own program among the nodes included. The first score of all improves nothing. An engine is one if it took the
    title in its first tournament.

    Args:
        nodes: in journal order.
    """
    direction = Direction(lower_is_better)
    best: float | None = None
    for node in nodes:
        score = node.metric_value if node.is_scored else None
        if score is None:
            yield node, None
            continue
        leads = best is None or direction.better(score, best)
        if node.tournament is not None and node.tournament.promoted:
            leads = node.tournament.promoted[0] == node.id
        improves = leads and best is not None and node.operator not in FREE_OPERATORS
        yield node, direction.gain(score, best) if improves and best is not None else None
        best = score if leads or best is None else best
