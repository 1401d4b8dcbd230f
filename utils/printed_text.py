"""What a program printed, as prompts show it: a warning or a traceback once, however often it came, and no lines over
and over.

A loop over folds repeats the warnings of each fold: a hundred of them say no more than one, and push what is worth
reading out of what is shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from utils.counts import counted
from utils.traceback_text import alike_once

LONGEST = 8
"""Lines of a block that is looked for right behind itself."""
LEAST = 3
"""So often a block stands behind itself before it is told once."""
_WARNING = re.compile(r"^\S.*:\d+: (?:\w+\.)*\w*Warning: ")
"""The first line of what Python's `warnings` prints: place, category, message."""
_SOURCE = re.compile(r"^  \S")
"""Its last line: the line of code that it is about, where the file is there."""
_BAR = re.compile(r"^[^|\n]{0,80}\d{1,3}%\|[^|]*\|")
"""A bar of progress as tqdm draws it: `fold 1:  40%|####      | 4/10 [00:02<00:03]`."""
_MESSAGE = 12
"""Lines of a warning's message, at most."""
_REMEMBERED = 32
"""What the best programs printed stands in one prompt after the other."""


@lru_cache(maxsize=_REMEMBERED)
def without_repeats(text: str) -> str:
    """`text` with each warning, traceback and block of lines that repeats itself once, and how often it came; of a bar
    of progress the last."""
    return "\n".join(_folded(_told_once(_last_of_bars(alike_once(text).split("\n")))))


def without_warnings(text: str) -> str:
    """`text` without what Python's `warnings` printed, and without bars of progress."""
    if "Warning: " not in text and "%|" not in text:  # most outputs hold none
        return text
    parts = (part for is_warning, part in _parts(text.split("\n")) if not is_warning)
    return "\n".join(line for part in parts for line in part if not _BAR.match(line))


def _last_of_bars(lines: Sequence[str]) -> list[str]:
    """A bar that is drawn anew comes as a line each time."""
    following = [*lines[1:], ""]
    return [line for line, after in zip(lines, following, strict=True) if not (_BAR.match(line) and _BAR.match(after))]


def _told_once(lines: Sequence[str]) -> list[str]:
    parts = [(is_warning, tuple(part)) for is_warning, part in _parts(lines)]
    times = Counter(part for is_warning, part in parts if is_warning)
    kept: list[str] = []
    for is_warning, part in parts:
        if not is_warning:
            kept += part
        elif often := times.pop(part, 0):
            kept += [*part, *([f"[this warning came {counted(often, 'time')}]"] if often > 1 else [])]
    return kept


def _parts(lines: Sequence[str]) -> Iterator[tuple[bool, Sequence[str]]]:
    """(is it a warning, its lines), in order."""
    begun = place = 0
    while place < len(lines):
        if not _WARNING.match(lines[place]):
            place += 1
            continue
        yield False, lines[begun:place]
        begun, place = place, _end_of_warning(lines, place)
        yield True, lines[begun:place]
        begun = place
    yield False, lines[begun:]


def _end_of_warning(lines: Sequence[str], place: int) -> int:
    for end in range(place + 1, min(place + 1 + _MESSAGE, len(lines))):
        if _SOURCE.match(lines[end]):
            return end + 1
        if _WARNING.match(lines[end]):
            break
    return place + 1


def _folded(lines: Sequence[str]) -> list[str]:
    kept: list[str] = []
    place = 0
    while place < len(lines):
        size, often = _repeated(lines, place)
        if often < LEAST:
            kept.append(lines[place])
            place += 1
            continue
        what = "the line above" if size == 1 else f"the {size} lines above"
        kept += [*lines[place : place + size], f"[{what}: {counted(often, 'time')}]"]
        place += size * often
    return kept


def _repeated(lines: Sequence[str], place: int) -> tuple[int, int]:
    """(lines of the block that begins there, how often it stands there one behind the other) of the block whose repeats
    are the most lines; a block begins with a line that is not blank."""
    first = lines[place]
    ends = range(place + 1, min(place + LONGEST, len(lines) - 1) + 1) if first.strip() else ()
    found = [(end - place, _times(lines, place, end - place)) for end in ends if lines[end] == first]
    return max(found, key=lambda one: (one[0] * (one[1] - 1), -one[0]), default=(1, 1))


def _times(lines: Sequence[str], place: int, size: int) -> int:
    block, often = lines[place : place + size], 1
    while lines[place + often * size : place + (often + 1) * size] == block:
        often += 1
    return often
