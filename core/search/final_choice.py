"""The final choice: among the best on validation, the simplest that cannot be told from the best."""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.contracts import Evaluation
from core.state.node import Node
from utils.direction import ROUNDING, Direction
from utils.stats import standard_error
from utils.syntax import parse

RESAMPLES = 400
"""Bootstrap samples; the standard error of a difference is known to about 4 %."""
FEW = 2000
"""Cases of which samples are drawn; the error of a mean of more is that of the formula, and samples take minutes."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The winner, and the numbers behind it as plain JSON."""

    winner: Node
    rows: list[dict[str, Any]]
    """A row a candidate: node_id, metric, size, difference, error, tie."""


def choose(top: Sequence[Node], seed: int = 0, *, simplest: bool = True) -> Choice | None:
    """Choose among `top` (best first on validation).

    A candidate ties with the best if their mean difference over the cases (rows in blocks, instances, game pairs) is
    within one bootstrap standard error of 0 (of more than FEW cases within one by the formula), and it is not worse
    than a baseline: whoever brought that would be handed something worse for being short. Of those that tie the
    simplest wins: the smallest syntax tree, then the better rank. Without cases, or where not the `simplest` is looked
    for, only equal metrics tie, but for rounding.

    Source: the one-standard-error rule of Breiman et al. 1984, with the paired bootstrap of Efron 1979.
    """
    if not top:
        return None
    best = top[0]
    differences = paired_differences(best.signature, [node.signature for node in top], seed)
    known = next((place for place, node in enumerate(top) if node.operator == "baseline"), len(top))
    may_tie = [place <= known or _equal(node, top[known]) for place, node in enumerate(top)]
    rows = [_row(best, node, told, simplest and may) for node, told, may in zip(top, differences, may_tie, strict=True)]
    ties = [node for node, row in zip(top, rows, strict=True) if row["tie"]]
    return Choice(min(ties, key=lambda node: size(node.code)), rows)


def looked_again(top: Sequence[Node], verdicts: Sequence[Evaluation], lower_is_better: bool) -> list[Node]:
    """The candidates with the score and the cases of a second look, best first; those without a score are left out.

    The best of many is best partly by luck on the instances that chose it; the second look has instances that did not.
    Where none has a score, all that did not fail stay with the one that they had: there was no time for them.
    """
    if all(verdict.metric is None for verdict in verdicts):
        return [node for node, verdict in zip(top, verdicts, strict=True) if verdict.failure is None]
    scored = [(node, verdict) for node, verdict in zip(top, verdicts, strict=True) if verdict.metric is not None]
    fresh = [node.model_copy(update={"metric_value": v.metric, "signature": v.signature}) for node, v in scored]
    return Direction(lower_is_better).ranked(fresh, lambda node: node.metric_value or 0.0)


def _row(best: Node, node: Node, told: tuple[float, float], may_tie: bool) -> dict[str, Any]:
    """`may_tie`: with another score than the best's."""
    difference, error = told
    tie = _equal(node, best) or (may_tie and error > 0 and abs(difference) <= error)
    return {
        "node_id": node.id,
        "metric": node.metric_value,
        "size": size(node.code),
        "difference": difference,
        "error": error,
        "tie": node.id == best.id or tie,
    }


def _equal(node: Node, other: Node) -> bool:
    assert node.metric_value is not None and other.metric_value is not None
    return math.isclose(node.metric_value, other.metric_value, rel_tol=ROUNDING)


def size(code: str) -> int:
    """Nodes of the syntax tree; for what is not Python, words."""
    try:
        return sum(1 for _ in ast.walk(parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return len(code.split())


def paired_differences(a: Sequence[float], others: Sequence[Sequence[float]], seed: int) -> list[tuple[float, float]]:
    """Of each of the others the mean of it − `a` over the cases, and its bootstrap standard error; (0, 0) where they
    cannot be paired. All go by the same resampled cases: to draw them takes nearly all of the time."""
    gaps = [_gaps(a, b) for b in others]
    if len(a) > FEW:
        return [
            (sum(of_cases) / len(of_cases), standard_error(of_cases) or 0.0) if of_cases else (0.0, 0.0)
            for of_cases in gaps
        ]
    means: list[list[float]] = [[] for _ in others]
    rng, places = random.Random(seed), range(len(a))
    for _ in range(RESAMPLES if any(map(any, gaps)) else 0):
        drawn = rng.choices(places, k=len(places))
        for found, of_cases in zip(means, gaps, strict=True):
            if any(of_cases):
                found.append(sum(map(of_cases.__getitem__, drawn)) / len(drawn))
    return [
        (sum(of_cases) / len(of_cases), _spread(found)) if found else (0.0, 0.0)
        for of_cases, found in zip(gaps, means, strict=True)
    ]


def _gaps(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """b − a, case by case; [] where they cannot be paired."""
    gaps = [y - x for x, y in zip(a, b, strict=False)]
    return gaps if len(a) == len(b) and len(gaps) >= 2 and all(map(math.isfinite, gaps)) else []


def _spread(means: Sequence[float]) -> float:
    middle = sum(means) / len(means)
    return math.sqrt(sum((value - middle) ** 2 for value in means) / (len(means) - 1))
