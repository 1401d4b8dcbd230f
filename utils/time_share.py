"""How much of its time limit a program took, in coarse steps: a prompt may hold that, and no other clock time."""

from __future__ import annotations

import re

STEPS = (10, 25, 50, 75, 90)
"""Per cent. Coarse, so that a machine that is a little slower tells the same."""

_TOLD = re.compile(r"took (?:under \d+|over \d+|\d+ to \d+) % of its time")


def time_share(seconds: float, limit: float | None) -> str:
    """`took 25 to 50 % of its time`; '' where there is no limit or nothing was measured."""
    if not limit or seconds <= 0:
        return ""
    share = 100 * seconds / limit
    below = [step for step in STEPS if share >= step]
    above = [step for step in STEPS if share < step]
    if not below:
        return f"took under {STEPS[0]} % of its time"
    return f"took {below[-1]} to {above[0]} % of its time" if above else f"took over {STEPS[-1]} % of its time"


def is_worth_a_word(share: str) -> bool:
    """False for a program that came nowhere near its limit."""
    return bool(share) and "under" not in share


def without_times(text: str) -> str:
    """`text` with one word for every share of time: equal for programs that differ in their speed alone."""
    return _TOLD.sub("took its time", text)
