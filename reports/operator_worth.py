"""What each operator's steps cost, and what they brought: dollars an improvement of the best."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from core.state.node import Node
from core.state.operators import FREE_OPERATORS
from utils.direction import Direction


class OperatorWorth(BaseModel):
    """The steps of one operator, all together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    operator: str
    steps: int = 0
    improvements: int = 0
    """Steps that were better than everything before them."""
    gain: float = 0.0
    """By how much, summed up, in the metric's unit."""
    cost_usd: float | None = None
    """None where nobody sends a bill that we know."""

    @property
    def usd_an_improvement(self) -> float | None:
        """None without an improvement, or without a known cost."""
        return None if self.cost_usd is None or not self.improvements else self.cost_usd / self.improvements


def worth_of(nodes: Iterable[Node], lower_is_better: bool) -> list[OperatorWorth]:
    """A row an operator, the one with the most steps first.

    Args:
        nodes: in journal order. The first score of all improves nothing; a baseline's is one.
    """
    direction = Direction(lower_is_better)
    best: float | None = None
    rows: dict[str, OperatorWorth] = {}
    for node in nodes:
        score = node.metric_value if node.is_scored else None
        improves = score is not None and best is not None and direction.better(score, best)
        if node.operator not in FREE_OPERATORS:
            row = rows.get(node.operator) or OperatorWorth(operator=node.operator)
            gain = direction.gain(score, best) if improves and score is not None and best is not None else 0.0
            cost = row.cost_usd if node.cost_usd is None else (row.cost_usd or 0.0) + node.cost_usd
            rows[node.operator] = row.model_copy(
                update={
                    "steps": row.steps + 1,
                    "improvements": row.improvements + improves,
                    "gain": row.gain + gain,
                    "cost_usd": cost,
                }
            )
        if score is not None and (best is None or improves):
            best = score
    return sorted(rows.values(), key=lambda row: -row.steps)
