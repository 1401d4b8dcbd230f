"""What a run says before it starts."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from cli.terminal.banner import banner, quote_line
from core.backend.roles import model_settings
from utils.config import load_config


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["search.max_steps=20"], "20 steps, some 20 calls"),
        (["search.max_steps=20", "agent.review=always"], "20 steps, some 40 calls"),
        (["--problem=connect_four", "search.max_generations=5", "search.questions=3"], "15 steps, some 15 calls"),
        (["--problem=bin_packing", "search.max_generations=5", "search.num_islands=2"], "80 steps, some 84 calls"),
        (["search.max_steps=20", "search.batch=4", "agent.ideas=never"], "20 steps, some 20 calls"),
        (["search.max_steps=20", "agent.ideas=always"], "20 steps, some 30 calls"),
        (["--problem=connect_four", "search.max_generations=5", "search.max_steps=4"], "4 steps, some 4 calls"),
        (["search.max_steps=null"], "no limit on steps; for each: 1 step, some 1 call"),
    ],
)
def test_the_quote_counts_what_the_limits_allow(words, said):
    overrides = ["llm.code.provider=openai", "llm.code.model=gpt-5-mini", *(w for w in words if not w.startswith("--"))]
    preset = next((w.partition("=")[2] for w in words if w.startswith("--problem=")), None)
    config = load_config(None, overrides, presets={"problem": preset} if preset else None)
    facts = SimpleNamespace(config=config, roles=model_settings(config.llm), problem=SimpleNamespace(claims_only=False))
    assert quote_line(facts).startswith(said)


@pytest.mark.parametrize("parts", [["16 openings", "4 are held out"], ["amounts are read " * 6, "6 rows are hidden"]])
def test_a_long_note_is_told_in_lines(facts_of, parts):
    """What mattered stood at the end of a paragraph of how a table was read."""
    facts = {"name": "p", "unit": "", "lower_is_better": True, "claims_only": False, "unread": {}}
    problem = SimpleNamespace(note="; ".join(parts), **facts)
    said = [line for line in banner(replace(facts_of(), problem=problem)) if line.startswith("note: ")]
    assert said == ([f"note: {part}" for part in parts] if len(problem.note) > 120 else [f"note: {problem.note}"])
