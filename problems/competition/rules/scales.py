"""Ordered scales that people write as words, so that a column of words can become a number."""

from __future__ import annotations

from collections.abc import Iterable

SCALES: tuple[tuple[str, ...], ...] = (
    ("none", "po", "fa", "ta", "gd", "ex"),
    ("none", "very poor", "poor", "fair", "below average", "average", "above average", "good", "very good", "excellent",
     "very excellent"),
    ("none", "poor", "fair", "typical", "good", "excellent"),
    ("fair", "good", "very good", "premium", "ideal"),
    ("none", "no", "mn", "av", "gd"),
    ("none", "no basement", "unf", "lwq", "rec", "blq", "alq", "glq"),
    ("none", "no garage", "unf", "rfn", "fin"),
    ("sal", "sev", "maj2", "maj1", "mod", "min2", "min1", "typ"),
    ("i3", "i2", "i1", "si2", "si1", "vs2", "vs1", "vvs2", "vvs1", "if"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("very low", "low", "medium", "high", "very high"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("month to month", "one year", "two year"),
    ("dirt road", "partial pavement", "paved"),
    ("irregular", "moderately irregular", "slightly irregular", "regular"),
    ("sev", "mod", "gtl"),
)  # fmt: skip
"""Each from low to high. Compared without case, with `_` and `-` as blanks."""


def ordered(values: Iterable[str]) -> list[str] | None:
    """The values from low to high if a known scale holds them all (a "no …" value is lowest), else None."""
    names = {value: _norm(value) for value in values}
    if len(names) < 3:
        return None
    absent = {value for value, name in names.items() if name.startswith(("no ", "none"))}
    for scale in SCALES:
        places = {_norm(word): place for place, word in enumerate(scale)}
        if all(value in absent or name in places for value, name in names.items()):
            return sorted(names, key=lambda value: (-1 if value in absent else places[names[value]], value))
    return None


def _norm(value: str) -> str:
    return " ".join(value.strip().lower().replace("_", " ").replace("-", " ").split())
