"""What a node keeps of an agent's last words: its plan, as short as a model's. All of them stay in the transcript."""

from __future__ import annotations

import re

from utils.clean_text import one_line

LONGEST = 500
"""Characters of a plan."""
PLAN = "PLAN:"
"""Begins the line in which an agent says what it tried."""
_LINE = re.compile(r"^[ \t>*_#`-]*plan[ \t*_`]*:[ \t*_`]*(?:\n[ \t*_`]*)?(?P<plan>\S.*)$", re.IGNORECASE | re.MULTILINE)
_NO_SENTENCE = ("#", "```", "~~~", "---", "===", "{", "[", "|")
"""Begin a paragraph that says nothing by itself: a heading, code, a table, what some tool printed."""


def plan_of(said: str) -> str:
    """The last line `PLAN: …` of what an agent said, else the first paragraph of prose; bounded, on one line."""
    lines = list(_LINE.finditer(said))
    if lines:
        return _short(lines[-1]["plan"])
    paragraphs = (part.strip() for part in re.split(r"\n\s*\n", said))
    return _short(next((part for part in paragraphs if part and not part.startswith(_NO_SENTENCE)), ""))


def _short(text: str) -> str:
    """Up to the end of the last whole sentence that fits, else of the last word."""
    plain = one_line(text, 100_000).strip("*_` ")
    if len(plain) <= LONGEST:
        return plain
    kept = plain[: LONGEST - 2]
    end = max(kept.rfind(mark) for mark in (". ", "! ", "? "))
    return kept[: end + 1] if end > 0 else f"{kept[: max(kept.rfind(' '), 1)]} …"
