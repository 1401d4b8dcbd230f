"""The direct match of an arena's winner against the starting champion, in one wording for every surface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from utils.direction import finite


def duel_text(duel: Mapping[str, Any] | None) -> str:
    """'6 won, 2 drawn, 4 lost: +58 Elo (95 % -90 to +210)'; '' without a match. It decides nothing."""
    if not duel or not duel.get("wins_draws_losses"):
        return ""
    won, drawn, lost = duel["wins_draws_losses"]
    text = f"{won} won, {drawn} drawn, {lost} lost"
    if "low" not in duel:
        return text
    elo, low, high = (finite(duel.get(name)) for name in ("elo", "low", "high"))
    if low is None and high is None:
        return f"{text}: too few games to tell them apart"
    ends = f"95 % {_elo(low, 'no lower end')} to {_elo(high, 'no upper end')}"
    told = f"Elo {ends}" if elo is None else f"{_elo(elo, '')} Elo ({ends})"
    return f"{text}: {told}"


def _elo(end: float | None, none: str) -> str:
    return none if end is None else f"{round(end):+d}"
