"""Which lines of two texts are the same, in a time that no text can stretch: programs and models wrote them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

MOST_PAIRS = 50_000
"""Pairs of equal lines that are looked at; difflib looks at all of them again for each stretch that it finds."""


def line_matcher(old: Sequence[str], new: Sequence[str]) -> SequenceMatcher[str]:
    """difflib's matcher of two lists of lines.

    Where too many lines of one are equal to lines of the other, those that recur most find no partner by themselves:
    they are the same only beside others that are.
    """
    here, there = Counter(old), Counter(new)
    pairs = sorted(((here[line] * there[line], line) for line in here.keys() & there.keys()), reverse=True)
    left, common = sum(count for count, _ in pairs), set()
    for count, line in pairs:
        if left <= MOST_PAIRS:
            break
        left -= count
        common.add(line)
    return SequenceMatcher(common.__contains__ if common else None, old, new, autojunk=False)
