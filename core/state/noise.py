"""How far a score may lie from what the program is worth, where the same program does not score the same twice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import fmean

from core.state.node import Node
from utils.stats import NORMAL_975, student_975


def pooled(groups: Iterable[Sequence[float]]) -> tuple[float, int]:
    """(standard deviation within the groups, its degrees of freedom); (0.0, 1) where no group has two members."""
    known = [group for group in groups if len(group) > 1]
    degrees = sum(len(group) - 1 for group in known)
    squares = sum((value - fmean(group)) ** 2 for group in known for value in group)
    return (math.sqrt(squares / degrees), degrees) if degrees else (0.0, 1)


def deviation_of(nodes: Iterable[Node]) -> float | None:
    """Standard deviation of one score, from the nodes that were scored several times; None where it is not known."""
    return pooled(node.repeats for node in nodes)[0] or None


def error_of(node: Node) -> float | None:
    """Standard error that the 95 % interval of a score stands for: of a mean of few scores that is Student's."""
    if node.interval is None:
        return None
    low, high = node.interval
    return (high - low) / 2 / (student_975(len(node.repeats) - 1) if len(node.repeats) > 1 else NORMAL_975)


def noise_in(node: Node, deviation: float | None) -> float | None:
    """Standard error of a node's score: its own, or of one that was taken once what others say; None: not known."""
    own = error_of(node)
    return deviation if own is None and node.metric_value is not None else own
