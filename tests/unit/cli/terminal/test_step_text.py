"""Steps as lines of the terminal."""

from __future__ import annotations

from cli.terminal.step_text import StepLines
from core.events import NodeCommitted


def committed(step: int, operator: str, **more: object) -> NodeCommitted:
    return NodeCommitted(node_id=f"{step:012d}", step=step, operator=operator, **more)


def test_only_steps_are_numbered_and_none_passes_the_limit():
    lines = StepLines(2)
    operators = ["user", "draft", "baseline", "improve", "ensemble"]
    said = [lines.line(committed(step, operator, metric=1.0)) for step, operator in enumerate(operators)]
    assert [line.split()[0] for line in said] == ["000000", "[1/2]", "000000", "[2/2]", "000000"]


def test_numbers_go_on_after_a_resume():
    assert StepLines(None, 7).line(committed(9, "draft", metric=1.0)).startswith("[8] ")
