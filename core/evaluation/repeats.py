"""Scores that are not the same twice: programs or evaluators that draw at random or watch a clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from core.contracts import Evaluation
from core.state.node import Node
from core.state.summary import is_rounding

REPEATS = 2
"""Further evaluations of each of the best programs."""


def seen_again(nodes: Sequence[Node], score: Callable[[Node], Evaluation]) -> list[Evaluation] | None:
    """Each node's mean over its first score and further ones; None where the best program scores what it scored before.

    The best of many noisy scores is best partly by luck. One more look at it tells whether that can be; only then are
    the others looked at again. A program that fails when it is run again has no score.

    Args:
        nodes: best first, each with its score.
        score: evaluates a program anew.
    """
    if not nodes or nodes[0].metric_value is None:
        return None
    first = score(nodes[0])
    if first.metric is not None and is_rounding(first.metric, nodes[0].metric_value):
        return None
    looks = [[first, *(score(nodes[0]) for _ in range(REPEATS - 1))]]
    looks += [[score(node) for _ in range(REPEATS)] for node in nodes[1:]]
    return [_mean(node, look) for node, look in zip(nodes, looks, strict=True)]


def _mean(node: Node, looks: Sequence[Evaluation]) -> Evaluation:
    failed = next((look for look in looks if look.metric is None), None)
    if failed is not None:
        return failed
    scores = [node.metric_value, *(look.metric for look in looks)]
    known = [score for score in scores if score is not None]
    return looks[-1].model_copy(
        update={"metric": fmean(known), "signature": (), "metadata": {**looks[-1].metadata, "scores": known}}
    )
