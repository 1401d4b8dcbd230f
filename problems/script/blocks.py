"""The evolving parts of a program: between `# EVOLVE-BLOCK-START` and `# EVOLVE-BLOCK-END`."""

from __future__ import annotations

from utils.syntax import source_lines

START, END = "EVOLVE-BLOCK-START", "EVOLVE-BLOCK-END"


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


def graft(frame: str, new: str) -> str | None:
    """The program `frame` with the blocks of `new`, so that nothing outside of the blocks changes.

    None if the two have not the same number of blocks. Without marks in `frame` the new program is taken whole.
    """
    if not has_marks(frame):
        return new
    inside = [_text(new, lines) for lines in line_ranges(new)] if has_marks(new) else [source_lines(new)]
    places = line_ranges(frame)
    if len(inside) != len(places) or (not has_marks(new) and _repeats_frame(frame, new)):
        return None
    lines = source_lines(frame)
    for place, text in sorted(zip(places, inside, strict=True), key=lambda pair: -pair[0].start):
        lines[place.start - 1 : place.stop - 1] = text
    return "\n".join(lines) + "\n"


def _text(code: str, lines: range) -> list[str]:
    return source_lines(code)[lines.start - 1 : lines.stop - 1]


def _repeats_frame(frame: str, new: str) -> bool:
    """True if a text without marks holds lines of the frame: then it is a whole program that lost its marks."""
    inside = block_lines(frame)
    outside = {
        line.strip()
        for number, line in enumerate(source_lines(frame), 1)
        if number not in inside and line.startswith(("def ", "class ", "if __name__"))
    }
    return any(line.strip() in outside for line in source_lines(new))
