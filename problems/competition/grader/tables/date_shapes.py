"""Which formats of dates cells can be written in at all, by their digits, letters and marks.

To have pandas try every format takes a quarter of a second a column, and most columns are no dates.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

_PARTS = {
    **dict.fromkeys(("%d", "%m", "%H", "%I", "%M", "%S"), " ?00?"), "%Y": "0000", "%y": "00", "%f": "0+",
    **dict.fromkeys(("%b", "%B", "%p", "UTC"), "a"),
}  # fmt: skip
"""What each part of a format may look like, or more than that."""
_DIGIT, _LETTERS = re.compile(r"\d"), re.compile(r"[^\W\d_]+")


def possible(texts: Iterable[str], forms: Sequence[str], share: float = 1.0) -> list[str]:
    """Those of the formats, of `pandas.to_datetime`, that so large a share of the texts may be written in."""
    counts = Counter(map(_shape, texts))
    wanted = share * counts.total()
    if not counts or sum(count for shape, count in counts.items() if "0" in shape) < wanted:
        return []
    return [form for form in forms if sum(n for shape, n in counts.items() if _fits(form, shape)) >= wanted]


def _shape(text: str) -> str:
    """`0` for each digit, `a` for each run of letters: `5 Mar 2021` is `0 a 0000`."""
    return _LETTERS.sub("a", _DIGIT.sub("0", text))


def _fits(form: str, shape: str) -> bool:
    return _pattern(form).fullmatch(shape) is not None


@cache
def _pattern(form: str) -> re.Pattern[str]:
    if form == "ISO8601":
        return re.compile("[+-]?0000.*", re.DOTALL)
    parts = (_PARTS.get(part) or (r"\s+" if part == " " else re.escape(part)) for part in re.findall("%.|UTC|.", form))
    return re.compile("".join(parts))
