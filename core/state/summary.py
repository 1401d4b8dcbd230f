"""The journal as prose for prompts, kept to a token budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from core.state.node import Node

if TYPE_CHECKING:
    from core.state.journal import Journal

BEST_SHOWN = 5
NEWEST_SHOWN = 40
"""Nodes looked at: bounded, so that a summary costs the same at step 10 and at step 100,000."""


def summarise(journal: Journal, *, include_code: bool = False, max_tokens: int = 2000) -> str:
    """Best nodes first, then the newest, one paragraph each; '' for an empty journal."""
    nodes = _distinct(chain(journal.top(BEST_SHOWN), journal.newest(NEWEST_SHOWN)))
    return render(nodes, total=len(journal), include_code=include_code, max_tokens=max_tokens)


def remember(journal: Journal, parent_ids: Sequence[str] = (), *, kind: str = "all", max_tokens: int = 2000) -> str:
    """The memory of a prompt by `agent.memory`; '' where there is nothing to tell.

    Args:
        kind: `none`: nothing; `related`: relatives of the parents; `all`: the whole journal, summarised.
        parent_ids: the task's parents; a draft's relatives are the other drafts.
    """
    if kind == "none" or not len(journal):
        return ""
    if kind == "related":
        nodes = related(journal, parent_ids)
        return render(nodes, total=len(nodes), max_tokens=max_tokens) if nodes else ""
    return summarise(journal, max_tokens=max_tokens)


def related(journal: Journal, parent_ids: Sequence[str]) -> list[Node]:
    """What was tried near the task, nearest first: the parents' other children, their ancestors, their siblings.

    The parents themselves are left out: the prompt shows them whole. Each group is bounded by NEWEST_SHOWN.
    """
    if not parent_ids:
        return list(reversed(journal.draft_nodes[-NEWEST_SHOWN:]))
    groups: list[Iterable[str]] = []
    for parent in parent_ids:
        groups.append(islice(reversed(journal.children_ids(parent)), NEWEST_SHOWN))
    for parent in parent_ids:
        groups.append(_line(journal, parent))
    for parent in parent_ids:
        above = journal[parent].parent_id
        if above is not None:
            groups.append(islice(reversed(journal.children_ids(above)), NEWEST_SHOWN))
    ids = dict.fromkeys(chain.from_iterable(groups))
    return [journal[i] for i in ids if i not in parent_ids]


def _line(journal: Journal, node_id: str) -> Iterator[str]:
    """The nearest ancestors by first parents."""
    above = journal[node_id].parent_id
    for _ in range(NEWEST_SHOWN):
        if above is None:
            return
        yield above
        above = journal[above].parent_id


def render(nodes: Iterable[Node], *, total: int, include_code: bool = False, max_tokens: int = 2000) -> str:
    """Paragraphs of `nodes` until the budget is spent, and a last line that says how many of `total` are missing."""
    budget = max_tokens * 4 - 80
    parts: list[str] = []
    for node in nodes:
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
        outcome = f"failed ({node.failure.value}): {_short(str(node.metadata.get('message', '')), 200)}"
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


def _distinct(nodes: Iterable[Node]) -> list[Node]:
    return list({node.id: node for node in nodes}.values())


def _short(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
