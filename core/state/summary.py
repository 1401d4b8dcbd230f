"""Nodes as prose for prompts, kept to a token budget."""

from __future__ import annotations

from collections.abc import Iterable

from core.state.node import Node
from utils.prompt_builder import BYTES_PER_TOKEN

BEST_SHOWN = 5
NEWEST_SHOWN = 40
"""Nodes looked at: bounded, so that a summary costs the same at step 10 and at step 100,000."""

_LAST_LINE = 80
"""Characters kept free for the line that says how many attempts are not shown."""


def summary_of(nodes: Iterable[Node], *, total: int, include_code: bool = False, max_tokens: int = 2000) -> str:
    """One paragraph for each of the distinct `nodes` until the budget is spent; '' without nodes.

    Args:
        total: how many attempts there are; a last line says how many of them are missing.
        max_tokens: by the rule of BYTES_PER_TOKEN, where a character counts as a byte.
    """
    budget = max_tokens * BYTES_PER_TOKEN - _LAST_LINE
    parts: list[str] = []
    for node in {node.id: node for node in nodes}.values():
        text = paragraph(node, include_code=include_code)
        if len(text) + 2 > budget:
            break
        parts.append(text)
        budget -= len(text) + 2
    left_out = total - len(parts)
    if left_out > 0:
        parts.append(f"({left_out} of {total} attempts are not shown.)")
    return "\n\n".join(parts)


def paragraph(node: Node, *, include_code: bool = False) -> str:
    """One attempt in a few lines."""
    outcome = f"metric {node.metric_value:.6g}" if node.metric_value is not None else "no metric"
    if node.failure:
        outcome = f"failed ({node.failure.value}): {_short(node.message, 200)}"
    elif node.duplicate_of:
        outcome = f"duplicate of {node.duplicate_of}"
    lines = [f"[{node.step}] {node.operator}: {outcome}"]
    if node.plan:
        lines.append(f"Plan: {_short(node.plan, 400)}")
    if node.analysis:
        lines.append(f"Review: {_short(node.analysis, 300)}")
    if include_code:
        lines.append(f"```python\n{node.code}\n```")
    return "\n".join(lines)


def _short(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
