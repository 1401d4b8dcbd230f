"""A message of a prompt in parts, each of which is stored once: what stands below a heading, and between fences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

PROGRAM, OUTPUT = "program", "output"
"""Kinds of texts."""
_HEADING_OR_FENCE = re.compile(r"\n(?:#{1,2} |(`{3,}).*)")
"""Begins with a character that is sought for quickly; with `(?m)^` each place of a long text is tried."""


def message_parts(body: str) -> list[str]:
    """`body` cut at its headings and round what stands between fences: a program in a prompt is the node's own text."""
    cuts, fence = [0], ""
    for found in _HEADING_OR_FENCE.finditer("\n" + body):  # one character in front: where it begins, its line does
        marks = found[1]
        if not fence:
            fence = marks or ""
            cuts.append(min(found.end(), len(body)) if marks else found.start())
        elif marks == fence and found[0][1:].rstrip() == fence:
            fence = ""
            cuts.append(found.start())
    return [part for start, end in pairwise([*cuts, len(body)]) if (part := body[start:end])]


def kinds_of(parts: Sequence[str]) -> Iterator[str]:
    """The kinds of a message's parts: what stands below the same heading is like each other, and so are programs."""
    section = fence = ""
    is_closed = False
    for part in parts:
        if fence:
            yield PROGRAM if fence.strip("`") == "python" else f"{section} {fence}"
            fence, is_closed = "", True
            continue
        first, _, below = part.partition("\n")
        section = first[:60].partition("(")[0].rstrip("0123456789 ") if first.startswith("#") else section
        yield f"part {section}"
        last = (below if is_closed else part).rstrip("\n").rpartition("\n")[2]  # what closes a fence opens none
        fence, is_closed = last if last.startswith("```") else "", False
