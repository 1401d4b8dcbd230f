"""What each operator's steps cost, and what they brought: dollars an improvement of the best."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from core.state.node import Node
from core.state.operators import FREE_OPERATORS
from reports.improvements import with_gains


class OperatorWorth(BaseModel):
    """The steps of one operator, all together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    operator: str
    steps: int = 0
    improvements: int = 0
    """As `with_gains` counts them."""
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
        nodes: in journal order.
    """
    rows: dict[str, OperatorWorth] = {}
    for node, gain in with_gains(nodes, lower_is_better):
        if node.operator not in FREE_OPERATORS:
            row = rows.get(node.operator) or OperatorWorth(operator=node.operator)
            cost = row.cost_usd if node.cost_usd is None else (row.cost_usd or 0.0) + node.cost_usd
            rows[node.operator] = row.model_copy(
                update={
                    "steps": row.steps + 1,
                    "improvements": row.improvements + (gain is not None),
                    "gain": row.gain + (gain or 0.0),
                    "cost_usd": cost,
                }
            )
    return sorted(rows.values(), key=lambda row: -row.steps)
