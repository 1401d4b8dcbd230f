from __future__ import annotations

from core.state.node import Node
from reports.operator_worth import worth_of


def node(number, operator, metric, cost=None):
    return Node(
        id=str(number), code="x", operator=operator, metric_value=metric, cost_usd=cost, is_buggy=metric is None
    )


def test_dollars_an_improvement_by_operator():
    nodes = [
        node(0, "baseline", 0.5), node(1, "draft", 0.6, 0.02), node(2, "improve", 0.4, 0.01),
        node(3, "improve", None, 0.03), node(4, "draft", 0.45, 0.02), node(5, "improve", 0.35, 0.02),
    ]  # fmt: skip
    improve, draft = worth_of(nodes, lower_is_better=True)
    assert (improve.operator, improve.steps, improve.improvements) == ("improve", 3, 2)
    assert round(improve.gain, 9) == 0.15 and round(improve.usd_an_improvement, 9) == 0.03
    assert (draft.improvements, draft.usd_an_improvement, draft.cost_usd) == (0, None, 0.04)


def test_without_bills_and_without_a_score_before():
    (row,) = worth_of([node(1, "draft", 1.0), node(2, "draft", 2.0)], lower_is_better=False)
    assert (row.improvements, row.gain, row.cost_usd, row.usd_an_improvement) == (1, 1.0, None, None)
