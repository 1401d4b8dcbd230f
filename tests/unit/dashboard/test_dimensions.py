"""What programs are said to differ in."""

from __future__ import annotations

from types import SimpleNamespace

from core.state.node import Node
from dashboard.server.dimensions import dimensions


def test_the_score_is_not_a_parameter_that_explains_the_score():
    nodes = [
        Node(
            id=f"{step:04x}", code="pass", operator="mutate", step=step, metric_value=float(step), is_valid=True,
            metrics={"cost": float(step), "turned": -float(step), "width": step % 3},
        )
        for step in range(6)
    ]  # fmt: skip
    told = dimensions(SimpleNamespace(nodes=lambda **_: nodes))
    assert told.names == ["width"] and len(told.points) == 6
