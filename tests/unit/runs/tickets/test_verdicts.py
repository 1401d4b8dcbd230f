"""What the writer of a ticket is told of its program."""

from __future__ import annotations

from typing import Any

import pytest

from core.state.node import Node
from runs.tickets.verdicts import verdict_of
from utils.line_numbers import LineNumbers

NAMES = {"extras": {"cases": {"unit": "bins used", "names": ["easy", "hard"]}}}


def cases(node: Node, *told: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = verdict_of(node, LineNumbers(node.code, node.code), told)["cases"]
    return found


def test_each_case_is_told_as_a_prompt_would():
    node = Node(id="a", code="x = 1", signature=(3.0, 7.0, 5.0), lower_is_better=True)
    assert cases(node, {"extras": {}}, NAMES) == {
        "unit": "bins used", "count": 3,
        "worst": [{"case": "easy", "score": 3.0}, {"case": "hard", "score": 7.0}, {"case": "case 3", "score": 5.0}],
    }  # fmt: skip


@pytest.mark.parametrize(("lower", "worst"), [(True, 99.0), (False, 0.0)])
def test_of_many_cases_the_worst_are_told(lower: bool, worst: float):
    found = cases(Node(id="a", code="x", signature=tuple(map(float, range(100))), lower_is_better=lower), NAMES)
    assert (found["count"], len(found["worst"]), found["worst"][0]["score"]) == (100, 20, worst)


@pytest.mark.parametrize(("told", "signature"), [((), (1.0, 2.0)), (({"extras": {}},), (1.0, 2.0)), ((NAMES,), ())])
def test_what_no_prompt_tells_no_verdict_tells(told: tuple[dict[str, Any], ...], signature: tuple[float, ...]):
    assert cases(Node(id="a", code="x", signature=signature), *told) == {}
