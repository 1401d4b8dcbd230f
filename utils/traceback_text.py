"""Tracebacks as a prompt shows them: the program's own frames, and of a library's only where it ended; one that came
again and again once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from utils.counts import counted

KEPT = 2
"""Frames of libraries at the end of a traceback that stay: they say what was wrong with the arguments."""
MESSAGES = 4
"""Messages of one traceback that stand below it, where they differ."""

_HEAD = "Traceback (most recent call last):"
_FRAME = re.compile(r'^  File "(?P<file>[^"]*)", line \d+')
_CHAINED = (
    ["During handling of the above exception, another exception occurred:"],
    ["The above exception was the direct cause of the following exception:"],
)
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
    return alike_once("\n".join(out))


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


def alike_once(text: str) -> str:
    """`text` with a traceback that comes several times where it came first, how often it came, and what else was its
    last line: a program that fails on each of fifty instances says it fifty times."""
    if text.count(_HEAD) < 2:
        return text
    parts = list(_parts(text.split("\n")))
    messages: dict[tuple[str, ...], Counter[str]] = {}
    for trace, lines in parts:
        if trace:
            messages.setdefault(trace, Counter())[lines[-1]] += 1
    kept: list[str] = []
    for trace, lines in parts:
        if not trace:
            kept += lines
        elif said := messages.pop(trace, None):
            kept += [*lines, *_others(said)]
    return "\n".join(kept)


def _others(messages: Counter[str]) -> list[str]:
    """What is said below the first of several alike; [] where it is the only one."""
    often, (first, *others) = messages.total(), messages
    if often == 1:
        return []
    if not others:
        return [f"[this traceback came {counted(often, 'time')}]"]
    lines = [f"[this traceback came {counted(often, 'time')}: {counted(messages[first], 'time')} so, and with]"]
    lines += others[:MESSAGES]
    return lines + [f"[{counted(len(others) - MESSAGES, 'further message')}]"] * (len(others) > MESSAGES)


def _parts(lines: Sequence[str]) -> Iterator[tuple[tuple[str, ...], Sequence[str]]]:
    """(what makes a traceback another one, its lines), or ((), other lines), in order. A traceback ends with the first
    line of its message; those that led to one another are one."""
    begun = place = 0
    while place < len(lines):
        trace, end = _traceback(lines, place)
        if trace:
            yield (), lines[begun:place]
            yield trace, lines[place:end]
            begun = end
        place = end
    yield (), lines[begun:]


def _traceback(lines: Sequence[str], place: int) -> tuple[tuple[str, ...], int]:
    """(frames and kinds of exceptions, the line behind it) of the traceback that begins there; ((), the next line)."""
    trace: tuple[str, ...] = ()
    over = place + 1
    while place < len(lines) and lines[place] == _HEAD:
        end = next((at for at in range(place + 1, len(lines)) if not lines[at].startswith("  ")), len(lines))
        if end in (place + 1, len(lines)) or not lines[end]:  # cut off
            break
        trace += (*lines[place:end], lines[end].partition(":")[0])
        over = end + 1
        if lines[over : over + 1] != [""] or lines[over + 1 : over + 2] not in _CHAINED:
            break
        place = over + 3
    return trace, over
