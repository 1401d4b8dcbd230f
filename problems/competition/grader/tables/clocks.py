"""Durations and times of day in a cell, as numbers: `1:02:03`, `14:33`, `2:33 PM`, `2 days 01:02:03`."""

from __future__ import annotations

import re

_CLOCK = re.compile(
    r"\s*(?:(?P<days>[-\u2212]?\d{1,6}) days?,? \+?|(?P<minus>[-\u2212+]?))"
    r"(?P<clock>\d{1,4}(?::[0-5]\d){1,2}(?:\.\d+)?)\s*(?P<half>[AaPp]\.?[Mm]\.?|)\s*"
)


def clock_in(text: str) -> float | None:
    """Its smallest unit counted: seconds of `1:02:03`, of `2:08` what the last place is; None for other texts."""
    found = _CLOCK.fullmatch(text)
    if found is None or (found["days"] and found["clock"].count(":") < 2):
        return None
    hours, *others = map(float, found["clock"].split(":"))
    if found["half"]:
        if found["days"] or found["minus"] or not 1 <= hours <= 12:
            return None
        hours = hours % 12 + (12 if found["half"][0] in "Pp" else 0)
    number = hours
    for place in others:
        number = number * 60 + place
    if found["days"]:
        return number + 86_400 * int(found["days"].replace("\u2212", "-"))
    return -number if found["minus"] in ("-", "\u2212") else number
