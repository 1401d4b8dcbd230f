"""Counts: what became of a run's steps, and what is said of a run that has no winner to judge."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from reports.winner import Winner
from utils.counts import counted


class Counts(BaseModel):
    """What became of the steps."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: int = 0
    duplicates: int = 0
    nothing_left: int = 0
    """Steps whose writers gave no program: they said that nothing is left to gain."""
    failures: dict[str, int] = {}
    repaired: int = 0
    """Programs that failed and were repaired in their step: no failures of a step."""
    scored: int = 0
    """Different programs that got a score, the baselines of the search among them."""
    all_alike: bool = False
    """They are several, and all got the same score."""
    repeated: dict[str, tuple[float, ...]] = {}
    """By node id: the scores of a program that was scored several times in the search; known at its end."""
    unscored: str = ""
    """Why no program that the search was given has a score; '' where one has, or where it took a step."""
    ended: str = ""
    """Why the run ended or broke off, in its own words."""
    ended_at: int | None = None
    """Steps at its last end by a limit, also where it has gone on since; None: it never ended so."""


def effort(counts: Counts) -> str:
    """`12 steps: 9 duplicates, 1 program failed (runtime 1)`: what became of them."""
    failed = sum(counts.failures.values())
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(counts.failures.items(), key=lambda one: -one[1]))
    twice = f"{counts.duplicates or 'no'} duplicate{'s' * (counts.duplicates != 1)}"
    told = f"{failed or 'no'} program{'s' * (failed != 1)} failed"
    left = f", {counts.nothing_left} without a program, since nothing is left to gain" if counts.nothing_left else ""
    told += f" ({kinds})" if kinds else ""
    mended = f", {counts.repaired} repaired in {'its step' if counts.repaired == 1 else 'their steps'}"
    return f"{counted(counts.steps, 'step')}: {twice}{left}, {told}{mended if counts.repaired else ''}"


def broken_off(winner: Winner | None, counts: Counts) -> str:
    """What is said of a run that an error ended."""
    why = f": {counts.ended.rstrip('.')}" if counts.ended else ""
    best = "no program has a score" if winner is None else "what is best so far is best by validation alone"
    return f"The run failed after {counted(counts.steps, 'step')}{why}. It can be resumed; {best}."


def stopped(counts: Counts, most: int | None) -> str:
    """What is said of a run that was stopped before its end.

    Args:
        most: steps that it was allowed, steps by hand may be more; None: any number.
    """
    if not counts.steps:
        return "The run was stopped before its first step."
    at = (
        f"at step {counts.steps} of {most}"
        if most is not None and counts.steps <= most
        else f"after {counted(counts.steps, 'step')}"
    )
    return f"The run was stopped {at}."


def waiting(counts: Counts, most: int | None) -> str:
    """What is said of a run that is stepped by hand. `most`: as for `stopped`."""
    of = (
        f"step {counts.steps} of {most}" if most is not None and counts.steps <= most else counted(counts.steps, "step")
    )
    return f"The run waits for its next step, after {of}." if counts.steps else "The run waits for its first step."


def no_step(counts: Counts) -> str:
    """What is said of a run that a limit ended before its first step."""
    why = f" ({counts.ended})" if counts.ended else ""
    return f"No step was taken: the run ended before the first one{why}."


def nothing_valid(counts: Counts) -> str:
    """What is said of a run that ended without a program that has a score."""
    if not counts.steps and counts.ended and not counts.failures:
        why = f": {counts.unscored.rstrip('.')}" if counts.unscored else ""
        return f"{no_step(counts)} No baseline got a score either{why}."
    worst = max(counts.failures.items(), key=lambda item: item[1], default=None)
    why = f"; the commonest failure is {worst[0]} ({worst[1]} of them)" if worst else ""
    return f"No valid program found in {counted(counts.steps, 'step')}{why}."
