"""Tracebacks as a prompt shows them: the program's own frames, and of a library's only where it ended."""

from __future__ import annotations

import re

from utils.counts import counted

KEPT = 2
"""Frames of libraries at the end of a traceback that stay: they say what was wrong with the arguments."""

_HEAD = "Traceback (most recent call last):"
_FRAME = re.compile(r'^  File "(?P<file>[^"]*)", line \d+')
_LIBRARY = re.compile(r"^(?:<env>|<frozen|.*(?:site-packages|/lib/python\d|\.py[xi]$|\.pxi$))")


def short_traceback(text: str) -> str:
    """`text` with the frames of libraries left out of every traceback in it, but the last two; a line says how many."""
    if _HEAD not in text:  # most outputs hold none
        return text
    lines, out, place = text.split("\n"), [], 0
    while place < len(lines):
        out.append(lines[place])
        place += 1
        if lines[place - 1].strip() == _HEAD:
            frames: list[list[str]] = []
            while place < len(lines) and lines[place].startswith("  "):
                if _FRAME.match(lines[place]) or not frames:
                    frames.append([])
                frames[-1].append(lines[place])
                place += 1
            out += _shortened(frames)
    return "\n".join(out)


def _shortened(frames: list[list[str]]) -> list[str]:
    out: list[str] = []
    left_out = 0
    for number, frame in enumerate(frames):
        found = _FRAME.match(frame[0])
        if found and _LIBRARY.match(found["file"]) and number < len(frames) - KEPT:
            left_out += 1
            continue
        if left_out:
            out.append(f"  [{counted(left_out, 'frame')} of libraries]")
            left_out = 0
        out += frame
    return out
