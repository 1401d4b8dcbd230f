"""What may be said of a run that has not ended, or that went on after its end: who leads, and where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.storage.held import WAITING
from reports.counts import Counts, stopped, waiting
from reports.finished_run import number
from reports.verdict_kind import Kind
from reports.winner import Winner, called
from utils.direction import Direction, finite


def still_open(
    winner: Winner | None, facts: Mapping[str, Any], counts: Counts, search_best: float | None = None
) -> tuple[Kind, str, str | None]:
    """(kind, sentence, who leads where the search does not) by validation alone. A baseline may lead, as it may win.

    A run that was stopped says so, and where: nobody works on it. One that had ended before says what that end was.
    """
    runs_on = facts.get("status") == "running"
    stands = waiting if facts.get("status") == WAITING else stopped
    when = "So far" if runs_on else f"{stands(counts, _most_steps(facts))} By then"
    unit = f"{facts.get('unit') or 'score'} ({Direction(bool(facts.get('lower_is_better'))).word} is better)"
    against = None
    if winner is None or winner.metric is None:
        told = "no program has a score"
    elif facts.get("family") == "arena":
        told = f"the champion is {winner.name}, {number(winner.metric)} {unit} {winner.where}"
    elif winner.role == "candidate":
        told = f"the best is {number(winner.metric)} {unit}, by validation alone"
    else:
        against = called({"name": winner.name, "own": winner.role == "user"})
        ours = "" if search_best is None else f"; the search's best is {number(search_best)}"
        told = f"nothing beat {against}: it is the best on validation, {number(winner.metric)} {unit}{ours}"
    earlier = "" if runs_on else _earlier_end(facts, counts)
    after = "" if runs_on else earlier or " It can be resumed."
    return "reopened" if earlier else "open", f"{when} {told}.{after}", against


def _earlier_end(facts: Mapping[str, Any], counts: Counts) -> str:
    """What a run that has gone on since had come to; '' where it never ended with a winner."""
    final = facts.get("final") or {}
    if not final.get("node_id") or counts.ended_at is None:
        return ""
    name = (final.get("program") or {}).get("name") or f"node {str(final['node_id'])[:12]}"
    score = finite(final.get("metric"))
    unseen = "" if score is None else f", {number(score)} {facts.get('unit') or 'score'} on the final part"
    return f" It had ended at step {counts.ended_at} with {name}{unseen}; a resume ends it anew."


def _most_steps(facts: Mapping[str, Any]) -> int | None:
    found = ((facts.get("config") or {}).get("search") or {}).get("max_steps")
    return found if isinstance(found, int) else None
