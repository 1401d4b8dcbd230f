"""What a run's calls cost, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from utils.counts import counted


def unanswered(cost: Mapping[str, Any]) -> str:
    """What requests without a stored answer can cost at most; '' where there is none that costs.

    Args:
        cost: `RunReader.cost()`.
    """
    calls, usd = cost["held_calls"], cost["held_usd"]
    if not usd:
        return ""
    which = counted(calls, "call that was sent and has", "calls that were sent and have")
    return f"at most ${usd:.4f} more for {which} no answer here: the provider may bill {'it' if calls == 1 else 'them'}"


def bill(cost: Mapping[str, Any]) -> str:
    """`4 calls, 2,262 tokens, $0.0032`, and what may come on top; '' where no call counts tokens (`rules`)."""
    more = unanswered(cost)
    if cost["prompt_tokens"] is None:
        return f"no call was answered; {more}" if more else ""
    tokens = cost["prompt_tokens"] + (cost["completion_tokens"] or 0)
    calls = counted(cost["calls"], "call")
    usd = "price unknown" if cost["cost_usd"] is None else f"${cost['cost_usd']:.4f}"
    return f"{calls}, {counted(tokens, 'token', form=',')}, {usd}" + (f"; {more}" if more else "")
