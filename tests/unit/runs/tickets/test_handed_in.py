"""A program that is handed in is found again in the reply that it becomes."""

from __future__ import annotations

import pytest

from runs.tickets.handed_in import as_reply
from utils.diff import has_blocks
from utils.response import parse_response


@pytest.mark.parametrize(
    "plan",
    [
        "Ask <think> first.", "<Thinking> about it", "As in\n```python\nx = 2\n```", "`x` is 2", "~~~\nas before",
        "- ~~~~ what `~~~` hides", "As in\n<<<<<<< SEARCH\nx", "I thought\n</think>\nand now write",
    ],
)  # fmt: skip
def test_a_plan_hides_no_program(plan: str) -> None:
    """A note that held `~~~` or `<<<<<<< SEARCH` took the program that came with it for its own."""
    reply = as_reply("x = 1\n", "python", plan)
    block, said = parse_response(reply, "python")
    assert block == "x = 1" and said and "<think" not in said.lower() and not has_blocks(reply)
    assert said.split()[-1] == plan.split()[-1].strip("`") or plan.endswith("```")
