"""What the provider's cache is told: breakpoints at the same places of prompts that grow at their end; its price."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.backend.backend_anthropic import BLOCK_SIZE, _arguments, _usage
from core.backend.exchange import Message, Request, Usage
from core.backend.prices import cost_of
from core.backend.settings import ModelSettings, Price

SETTINGS = ModelSettings(provider="anthropic", model="claude-sonnet-4-5")
LOOK_BACK = 20
"""Blocks before a breakpoint in which the provider looks for what it knows."""


def blocks(text):
    request = Request("You write programs.", (Message("user", text),))
    arguments = _arguments(request, SETTINGS)
    assert arguments["system"][0]["cache_control"] == {"type": "ephemeral"}
    return arguments["messages"][0]["content"]


@given(st.lists(st.text(max_size=300), max_size=200), st.text(max_size=3000))
def test_no_character_is_lost_and_few_breakpoints_are_sent(lines, tail):
    text = "\n".join([*lines, tail])
    found = blocks(text)
    assert "".join(block["text"] for block in found) == text
    assert sum("cache_control" in block for block in found) == (len(found) > 1)
    assert all(block["text"] for block in found[:-1])
    assert found[-1]["text"].strip() or len(found) == 1, "a blank block is refused"


@pytest.mark.parametrize("end", ["\n", "\n\n  \n"])
def test_a_long_last_line_leaves_no_blank_block(end):
    found = blocks("line\n" * 2000 + "x" * (3 * BLOCK_SIZE) + end)
    assert len(found) > 1 and found[-1]["text"].strip()


def test_a_prompt_that_grew_finds_what_was_sent_before():
    memory = [f"[{n}] mutate: 0.{n} - " + "what was changed " * 10 for n in range(300)]
    last, compared = None, 0
    for known in range(20, 300, 7):
        found = blocks("\n".join(memory[:known]) + "\n\n## The program\n\n" + "code\n" * 400)
        marked = [i for i, block in enumerate(found) if "cache_control" in block]
        assert len(found) <= LOOK_BACK
        if last is not None and marked:
            before = "".join(block["text"] for block in last)
            shared = sum(a["text"] == b["text"] for a, b in zip(last, found, strict=False))
            ends = [sum(len(block["text"]) for block in found[: i + 1]) for i in marked]
            assert shared >= len(last) - 2 or ends[0] <= len(before), "only what the parent follows is new"
            compared += 1
        last = found
    assert compared > 30
    assert len(last) > 10 and len(last[0]["text"]) >= BLOCK_SIZE


def test_what_the_cache_read_and_wrote_is_priced():
    told = SimpleNamespace(
        input_tokens=1000, output_tokens=200, cache_read_input_tokens=8000, cache_creation_input_tokens=1000
    )
    usage = _usage(told, None)
    assert usage == Usage(10_000, 200, cached=8000, written=1000)
    plain = cost_of(SETTINGS, Usage(10_000, 200))
    assert cost_of(SETTINGS, usage) == pytest.approx(plain - 8000 * 2.7e-6 + 1000 * 0.75e-6), (
        "a tenth, and a quarter more"
    )
    own = ModelSettings(provider="openai", model="m", price=Price(3.0, 15.0, 0.3))
    assert cost_of(own, Usage(10_000, 200, cached=8000)) == pytest.approx((2000 * 3 + 8000 * 0.3 + 200 * 15) / 1e6)
    assert _usage(SimpleNamespace(output_tokens=250), usage) == Usage(10_000, 250, cached=8000, written=1000)


def test_a_last_event_that_tells_no_prompt_takes_none_away():
    """Servers that speak Anthropic's language end a stream with `input_tokens: 0`: the prompt counted as nothing."""
    first = _usage(SimpleNamespace(input_tokens=10_000, output_tokens=1, cache_read_input_tokens=500), None)
    last = SimpleNamespace(input_tokens=0, output_tokens=250)
    assert _usage(last, first) == Usage(10_500, 250, cached=500)
    assert _usage(SimpleNamespace(input_tokens=10_000, output_tokens=9), Usage(0, 1)) == Usage(10_000, 9)
