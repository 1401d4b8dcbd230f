"""What a part of the rows may lack: columns that are seldom filled, and rare classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from problems.competition.rules.facts import FEWEST, Facts

SURE = 10.0
"""Rows that a draw holds on average, from which it nearly always holds one."""
_KINDS = (
    "numbers", "categories", "dates", "skewed", "years", "missing", "many", "wordy", "grouped", "extreme", "strays",
)  # fmt: skip
"""Fields of the facts that are names of columns. A text is filled, or no models of words are there."""


def without_sparse(facts: Facts, rows: int) -> Facts:
    """The facts without columns of which the drawn rows may hold no value: nothing is learned from them.

    Args:
        rows: how many are drawn; 0 for all.
    """
    sparse = [name for name, filled in facts.filled.items() if _drawn(filled, facts, rows) < SURE]
    if not rows or not sparse:
        return facts
    kept: dict[str, Any] = {kind: tuple(name for name in getattr(facts, kind) if name not in sparse) for kind in _KINDS}
    scales = {name: words for name, words in facts.scales.items() if name not in sparse}
    groups = {word: names for word, names in facts.groups.items() if not set(names) & set(sparse)}
    return replace(facts, **kept, scales=scales, groups=groups, scarce=(*facts.scarce, *sparse))


def with_rare(draw: str, whole: str, facts: Facts, rows: int) -> str:
    """The expression of drawn rows: `draw`, and a few of each class where these may lack one.

    Args:
        whole: the table that they are drawn from.
    """
    classes = [name for name, goal in zip(facts.targets, facts.goals, strict=True) if goal.task != "regression"]
    if not classes or _drawn(facts.rarest, facts, rows) >= SURE:
        return draw
    few = f"*({whole}.groupby(name).head({FEWEST}) for name in {classes!r})"
    return f"pd.concat([{draw}, {few}])"


def _drawn(count: float, facts: Facts, rows: int) -> float:
    """How many of so many rows are drawn, on average."""
    return count * rows / max(1, facts.rows)
