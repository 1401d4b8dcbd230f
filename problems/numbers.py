"""Numbers in programs of any language: found, set, and moved by `provider: rules`."""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from problems.blocks import block_lines, has_marks
from utils.syntax import is_movable, source_lines

_LONGEST = 300
"""Characters of a number that is read: Python reads no whole number of thousands of digits."""
_MARK = re.compile(r"^=== (.+) ===$", re.MULTILINE)
"""Between the files of a program that is several."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")


def numbers(code: str) -> list[re.Match[str]]:
    """Numeric literals that may change, whatever the language: inside of the evolving blocks where there are some, and
    none of the marks between files."""
    marks = [match.span() for match in _MARK.finditer(code)]
    found = [m for m in _NUMBER.finditer(code) if not any(low <= m.start() < high for low, high in marks)]
    if not has_marks(code):
        return found
    inside = block_lines(code)
    ends = list(accumulate(map(len, source_lines(code, keepends=True))))
    return [m for m in found if bisect_right(ends, m.start()) + 1 in inside]


def movable(code: str) -> dict[int, int | float]:
    """Place among `numbers` → the number, whole where it is written whole, of those that code of ours may move."""
    texts = [match.group() for match in numbers(code)]
    read = {at: int(text) if text.isdigit() else float(text) for at, text in enumerate(texts) if len(text) < _LONGEST}
    return {at: value for at, value in read.items() if is_movable(value)}


def with_numbers(code: str, texts: Sequence[str]) -> str:
    """The program with `texts` in place of its first numeric literals, in order."""
    for match, text in reversed(list(zip(numbers(code), texts, strict=False))):
        code = code[: match.start()] + text + code[match.end() :]
    return code


class NumbersWriter:
    """`provider: rules` for any language: moves numbers; with two parents of one shape, mixes theirs."""

    def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
        extras = context.get("extras") or {}
        parents = [parent["code"] for parent in context.get("parents") or () if parent.get("code")]
        code = parents[0] if parents else str(extras.get("program", ""))
        places = numbers(code)
        mate = numbers(parents[1]) if len(parents) > 1 else []
        if places and len(mate) == len(places):
            new = [rng.choice((a.group(), b.group())) for a, b in zip(places, mate, strict=True)]
            plan = "Mixed the numbers of two programs."
        else:
            new = moved_numbers(code, rng)
            plan = "Changed numbers."
        code = with_numbers(code, new)
        return f"{plan}\n\n```{extras.get('language', '')}\n{code.rstrip()}\n```\n"


def moved_numbers(code: str, rng: random.Random) -> list[str]:
    """The program's numeric literals, one or two of them moved."""
    free = list(movable(code))
    moved = set(rng.sample(free, min(len(free), rng.choice((1, 1, 2)))))
    return [_moved(m.group(), rng) if i in moved else m.group() for i, m in enumerate(numbers(code))]


def _moved(text: str, rng: random.Random) -> str:
    """A number near that of the text, whole where that was whole."""
    if text.isdigit():
        value = int(text)
        return str(max(0, value + rng.choice((-2, -1, 1, 2)) * max(1, value // 8)))
    return f"{float(text) * 2 ** rng.gauss(0, 0.6):.5g}"
