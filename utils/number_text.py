"""Numbers in texts: of somebody else's, who may have written millions of digits, and in ours."""

from __future__ import annotations

import math

from utils.direction import ROUNDING

DECIMAL = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
"""Of a pattern: `-1.5e3`, `2.`, `.5`. No digit can belong to two of its parts, so that a run of them is read once."""
MARK = "[xX×%]"
"""Of a pattern: what makes no other number of the one before it, as a unit of time would: `1.30x`, `93.1%`."""
WHOLE = r"(?<!\d)\d{1,18}(?!\d)"
"""Of a pattern: a whole number that fits into a machine word; Python refuses to read one of thousands of digits."""


def short_number(value: float, digits: int) -> str:
    """`value` with so many digits that count, and without an exponent where it is only large: `140` for `1.4e+02`."""
    text = f"{value:.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text and abs(value) < 1e15 else text


MOST_DIGITS = 17
"""That two different floats never share."""


def told_apart(value: float, *others: float | None, digits: int = 7) -> str:
    """`value` with `digits` that count, and with more where one of `others` reads the same and is another number: of
    a record that grows by its ninth digit each step has to be seen."""
    differing = [one for one in others if one is not None and not math.isclose(one, value, rel_tol=ROUNDING)]
    counts = range(digits, MOST_DIGITS)
    texts = (f"{value:.{n}g}" for n in counts if all(f"{one:.{n}g}" != f"{value:.{n}g}" for one in differing))
    return next(texts, f"{value:.{MOST_DIGITS}g}")
