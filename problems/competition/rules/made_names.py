"""What columns are called that a program makes: never like one of the table's own, which would be lost under it."""

from __future__ import annotations

import re
from itertools import pairwise

from problems.competition.rules.facts import Facts

_ALONE = ("holiday", "after_holiday", "year_end")
_BEFORE = ("age_", "sum_", "count_")
_BEHIND = (
    "_rank", "_missing", "_year", "_month", "_weekday", "_day", "_weekend", "_hour", "_days", "_words", "_shouts",
    "_share", "_squared", "_effect", "_near", "_day_effect", "_day_near", "_season_effect", "_season_near",
    "_before", "_after", "_since", "_until", "_between",
)  # fmt: skip


def made(facts: Facts, name: str) -> str:
    """The usual name, or one that no column of the table has."""
    return f"made_{name}" if _taken(facts) else name


def before(facts: Facts) -> str:
    """The same for names that a program puts together itself: what is written before them."""
    return '"made_" + ' if _taken(facts) else ""


def _taken(facts: Facts) -> bool:
    """Whether a column of the table has the name of one that a step may make."""
    names = set(facts.columns)
    words = names | set(facts.groups)
    return any(
        name in _ALONE
        or any(name.startswith(word) and name.removeprefix(word) in words for word in _BEFORE)
        or any(name.endswith(word) and name.removesuffix(word) in names for word in _BEHIND)
        or re.fullmatch(r"average_\d+", name)
        or ((topic := re.fullmatch(r"(.*)_topic_\d+", name, re.DOTALL)) and topic[1] in names)
        or any(name == f"{first}_to_{second}" for first, second in pairwise(facts.dates))
        for name in names
    )
