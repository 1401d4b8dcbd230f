"""The sentences of the terminal."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cli.terminal.messages import StepLines, quote_line
from core.backend.roles import model_settings
from core.events import NodeCommitted
from utils.config import load_config


def committed(step: int, operator: str, **more: object) -> NodeCommitted:
    return NodeCommitted(node_id=f"{step:012d}", step=step, operator=operator, **more)


def test_only_steps_are_numbered_and_none_passes_the_limit():
    lines = StepLines(2)
    operators = ["user", "draft", "baseline", "improve", "ensemble"]
    said = [lines.line(committed(step, operator, metric=1.0)) for step, operator in enumerate(operators)]
    assert [line.split()[0] for line in said] == ["000000", "[1/2]", "000000", "[2/2]", "000000"]


def test_numbers_go_on_after_a_resume():
    assert StepLines(None, 7).line(committed(9, "draft", metric=1.0)).startswith("[8] ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search.max_steps=20"], "20 steps, some 40 calls"),
        (["search.max_steps=20", "agent.review=never"], "20 steps, some 20 calls"),
        (["--problem=connect_four", "search.max_generations=5", "search.questions=3"], "15 steps, some 30 calls"),
        (["--problem=bin_packing", "search.max_generations=5", "search.num_islands=2"], "80 steps, some 160 calls"),
        (["--problem=connect_four", "search.max_generations=5", "search.max_steps=4"], "4 steps, some 8 calls"),
        (["search.max_steps=null"], "no limit on steps; for each: 1 steps, some 2 calls"),
    ],
)
def test_the_quote_counts_what_the_limits_allow(words, said):
    overrides = ["llm.code.provider=openai", "llm.code.model=gpt-5-mini", *(w for w in words if not w.startswith("--"))]
    preset = next((w.partition("=")[2] for w in words if w.startswith("--problem=")), None)
    config = load_config(None, overrides, presets={"problem": preset} if preset else None)
    session = SimpleNamespace(
        config=config, search=SimpleNamespace(model_client=SimpleNamespace(roles=model_settings(config.llm)))
    )
    assert quote_line(session).startswith(said)
