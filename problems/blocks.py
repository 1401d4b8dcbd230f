"""The evolving parts of a program: between lines with `EVOLVE-BLOCK-START` and `EVOLVE-BLOCK-END`, in any language."""

from __future__ import annotations

import re
from collections.abc import Sequence

from problems.new_names import additions, text_of, undefined
from utils.line_matching import line_matcher
from utils.syntax import source_lines, syntax_error

START, END = "EVOLVE-BLOCK-START", "EVOLVE-BLOCK-END"
LONGEST_COMPARED = 2000
"""Lines of a program that is compared line by line."""
MOST_PLACES = 8
"""Places that a sentence names."""
_TELLS = re.compile(r"(?!import |from |use |using |#|//|/\*)(?=(?:\W*\w){3})\S")
"""A line at the margin that says something: no import, no comment, no lone bracket."""


def line_ranges(code: str) -> list[range]:
    """1-based line numbers inside each block, marks excluded; the whole program where there are no marks."""
    ranges: list[range] = []
    opened: int | None = None
    lines = source_lines(code)
    for number, line in enumerate(lines, 1):
        if START in line and opened is None:
            opened = number + 1
        elif END in line and opened is not None:
            ranges.append(range(opened, number))
            opened = None
    if opened is not None:
        ranges.append(range(opened, len(lines) + 1))
    return ranges or [range(1, len(lines) + 1)]


def block_lines(code: str) -> frozenset[int]:
    """All 1-based line numbers that may change."""
    return frozenset(number for lines in line_ranges(code) for number in lines)


def has_marks(code: str) -> bool:
    return START in code


def told_marks(code: str) -> str:
    """The sentence for writers of a program with marks, on a line of its own; '' for others."""
    if not has_marks(code):
        return ""
    return "\nChange only what is between EVOLVE-BLOCK-START and EVOLVE-BLOCK-END; keep these two lines."


class BlockError(ValueError):
    """A text that cannot be put into the frame for certain; it says why, and what to do."""


def graft(frame: str, new: str) -> str:
    """The program `frame` with the blocks of `new`, so that nothing outside of the blocks changes.

    A text without marks is the block itself. Without marks in `frame` the new program is taken whole. A block within a
    function that was written at the margin, or whose first line was, is moved to where it stands. What Python adds
    outside of blocks at the margin (imports, helpers, constants) is moved into the nearest.

    Raises:
        BlockError: not the same number of blocks, or a whole program that lost its marks.
    """
    if not has_marks(frame):
        return new
    inside = [_text(new, lines) for lines in line_ranges(new)] if has_marks(new) else [source_lines(new)]
    places = line_ranges(frame)
    if not has_marks(new) and (repeated := _of_frame(frame, new)):
        raise BlockError(
            f"without the EVOLVE-BLOCK marks it is taken for the block alone, and it holds lines from outside of it "
            f"({repeated[:80]!r}): keep the two marks where they stand, or hand in only what is between them"
        )
    if not has_marks(new) and (lacking := undefined(frame, block_lines(frame), new)):
        raise BlockError(
            f"without the EVOLVE-BLOCK marks it is taken for the block alone, and it defines nothing of what stands "
            f"there ({', '.join(lacking[:3])}): hand in all that is between the marks, or SEARCH/REPLACE blocks"
        )
    if len(inside) != len(places):
        raise BlockError("the reply must keep the EVOLVE-BLOCK marks, each once, as they are")
    inside = [[*before, *text, *behind] for text, (before, behind) in zip(inside, _moved_in(frame, new), strict=True)]
    whole = _filled(frame, places, inside)
    if syntax_error(whole) is None or syntax_error(frame) is not None:
        return whole
    margins = [_margin(_text(frame, place)) for place in places]
    moved = (
        _filled(frame, places, [_moved(text, margin, most) for text, margin in zip(inside, margins, strict=True)])
        for most in (None, 1)
    )
    return next((one for one in moved if syntax_error(one) is None), whole)


def _moved_in(frame: str, new: str) -> list[tuple[list[str], list[str]]]:
    """For each block of `frame` the lines of `new` to go before and behind what it holds."""
    places, there = line_ranges(frame), line_ranges(new)
    nothing: list[tuple[list[str], list[str]]] = [([], []) for _ in places]
    if not (has_marks(frame) and has_marks(new)):
        return nothing
    for lines in _adopted(frame, new):
        above = [number for number, block in enumerate(there) if block.stop <= lines.start]
        before, behind = nothing[above[-1] if above else 0]
        (behind if above else before).extend(text_of(new, [lines]))
    return nothing


def _adopted(frame: str, new: str) -> list[range]:
    """What is moved into blocks; nothing where one of them stands within a function or a class."""
    if any(_margin(_text(frame, place)) for place in line_ranges(frame)):
        return []
    kept = frozenset(range(1, len(source_lines(frame)) + 1)) - block_lines(frame)
    return additions(frame, kept, new, block_lines(new))


def _filled(frame: str, places: Sequence[range], inside: Sequence[list[str]]) -> str:
    lines = source_lines(frame)
    for place, text in sorted(zip(places, inside, strict=True), key=lambda pair: -pair[0].start):
        lines[place.start - 1 : place.stop - 1] = text
    return "\n".join(lines) + "\n"


def _margin(lines: Sequence[str]) -> str:
    """What all lines begin with, of blanks."""
    return min((line[: len(line) - len(line.lstrip())] for line in lines if line.strip()), key=len, default="")


def _moved(lines: list[str], margin: str, most: int | None) -> list[str]:
    """Lines at `margin` that stood at another.

    Args:
        most: so many of the first lines alone, whatever the others stand at.
    """
    first = next((place for place, line in enumerate(lines) if line.strip()), 0)
    last = len(lines) if most is None else first + most
    lacking = margin.removeprefix(_margin(lines[first:last]))
    return [lacking + line if first <= place < last and line.strip() else line for place, line in enumerate(lines)]


def put_back(whole: str, new: str) -> str:
    """What `graft` undid of `new` outside of the blocks, as a sentence; '' for nothing but blanks.

    Args:
        whole: what came of it.
    """
    if not (has_marks(whole) and has_marks(new)):
        return ""
    if max(len(source_lines(whole)), len(source_lines(new))) > LONGEST_COMPARED:
        return "" if _outside(whole) == _outside(new) else "lines outside of the block were put back"
    moved = {number for lines in _adopted(whole, new) for number in lines}
    ours, theirs = _outside(whole), [(number, line) for number, line in _outside(new) if number not in moved]
    undone: list[int] = []
    lost: list[str] = []
    matched = line_matcher([line for _, line in theirs], [line for _, line in ours])
    for what, first, last, begin, end in matched.get_opcodes():
        if what != "equal":
            undone += [number for number, line in theirs[first:last] if line]
            lost += [line for _, line in ours[begin:end] if line]
    if undone:
        return f"lines outside of the block were put back: {_numbers(undone)} of what was handed in"
    return f"lines outside of the block that were left out are there again: {lost[0][:80]!r}, …" if lost else ""


def _outside(code: str) -> list[tuple[int, str]]:
    """The lines outside of the blocks and their marks, with their numbers and without blanks at their ends."""
    apart = {number for lines in line_ranges(code) for number in range(lines.start - 1, lines.stop + 1)}
    return [(n, line.rstrip()) for n, line in enumerate(source_lines(code), 1) if n not in apart]


def _numbers(numbers: Sequence[int]) -> str:
    """`3, 7-9`; of many places the first ones."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs[:MOST_PLACES]]
    return ", ".join([*shown, *(["…"] if len(runs) > MOST_PLACES else [])])


def _text(code: str, lines: range) -> list[str]:
    return source_lines(code)[lines.start - 1 : lines.stop - 1]


def _of_frame(frame: str, new: str) -> str:
    """A line by which a text without marks is seen to be a whole program that lost them; '' for a bare block.

    A function, class or main part of the frame, or half of what else stands there at the beginning of a line: imports
    and comments may well be said again.
    """
    inside = block_lines(frame)
    outside = [line.strip() for n, line in enumerate(source_lines(frame), 1) if n not in inside and _TELLS.match(line)]
    there = {line.strip() for line in source_lines(new)}
    repeated = [line for line in outside if line in there]
    certain = [line for line in repeated if line.startswith(("def ", "class ", "if __name__"))]
    return next(iter(certain or (repeated if len(repeated) * 2 >= len(outside) else [])), "")
