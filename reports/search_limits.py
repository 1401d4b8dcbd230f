"""The limits of a search in words, and how they changed from one process of a run to the next."""

from __future__ import annotations

from core.events import NodeCommitted, RunStarted
from core.state.operators import FREE_OPERATORS
from core.storage.reader import RunReader
from utils.counts import counted, dollars


def limits_text(
    max_steps: int | None,
    max_generations: int | None,
    seconds: float | None,
    tokens: float | None = None,
    usd: float | None = None,
) -> str:
    """`at most 20 steps, 10 min, $5.00`; `no limit` without any."""
    parts = [] if max_steps is None else [counted(max_steps, "step")]
    parts += [] if max_generations is None else [counted(max_generations, "generation")]
    parts += [] if seconds is None else [_duration(seconds)]
    parts += [] if tokens is None else [f"{tokens:,.0f} tokens"]
    parts += [] if usd is None else [dollars(usd)]
    return f"at most {', '.join(parts)}" if parts else "no limit"


def limits_of(started: RunStarted, *, paid: bool = False) -> str:
    """Of one process; `paid`: with its tokens and dollars."""
    budget = started.budget
    more = (budget.get("tokens"), budget.get("usd")) if paid else ()
    return limits_text(started.max_steps, started.max_generations, budget.get("seconds"), *more)


def limits_now(reader: RunReader, *, paid: bool) -> str:
    """Of the run's newest process; '' before the first one."""
    started = [event for event in reader.events(types=["run.started"]) if isinstance(event, RunStarted)]
    return limits_of(started[-1], paid=paid) if started else ""


def changed_limits(reader: RunReader) -> str:
    """`at most 5 steps, from step 6 on at most 8 steps`; '' where they never changed."""
    told: list[str] = []
    steps, newest = 0, ""
    for event in reader.events(types=["run.started", "node.committed"]):
        if isinstance(event, NodeCommitted):
            steps += event.operator not in FREE_OPERATORS
        elif isinstance(event, RunStarted) and limits_of(event) != newest:
            newest = limits_of(event)
            told.append(f"from step {steps + 1} on {newest}" if told else newest)
    return ", ".join(told) if len(told) > 1 else ""


def _duration(seconds: float) -> str:
    if seconds >= 3600:
        return f"{seconds / 3600:.3g} h"
    return f"{seconds / 60:.3g} min" if seconds >= 120 else f"{seconds:.3g} s"
