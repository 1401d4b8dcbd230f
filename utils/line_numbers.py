"""Line numbers of a program as it was run, told as those of the file that its writer handed in.

The two differ where a part of a program is searched: what stands around it is put back, and a file may lack its top.
"""

from __future__ import annotations

import re

from utils.line_matching import line_matcher
from utils.syntax import source_lines

LONGEST_COMPARED = 4000
"""Lines of a program that is compared line by line."""
_LINE = re.compile(r"\bline (\d{1,18})\b")
_FRAME = re.compile(r'(File "(?:[^"\n]*/)?(?:solution|program|candidate)\.\w+", )line (\d{1,18})\b')


def first_line(message: str) -> int | None:
    """The first number of a line that a message of ours names."""
    found = _LINE.search(message)
    return int(found[1]) if found else None


class LineNumbers:
    """From the lines of `run`, the program as it was run, to those of `handed`, the file that was handed in."""

    def __init__(self, run: str, handed: str) -> None:
        ours, theirs = ([line.rstrip() for line in source_lines(text)] for text in (run, handed))
        self._same = ours == theirs or max(len(ours), len(theirs)) > LONGEST_COMPARED
        blocks = () if self._same else line_matcher(ours, theirs).get_matching_blocks()
        self._to = {a + n + 1: b + n + 1 for a, b, size in blocks for n in range(size)}

    def in_message(self, message: str) -> str:
        """A message of ours about a program's text: every `line 7` in it is one of the program."""
        return message if self._same else _LINE.sub(lambda found: self._told(int(found[1])), message)

    def in_output(self, output: str) -> str:
        """What a program printed: its own frames of tracebacks."""
        return output if self._same else _FRAME.sub(lambda found: found[1] + self._told(int(found[2])), output)

    def _told(self, number: int) -> str:
        there = self._to.get(number)
        return f"line {number} of the whole program" if there is None else f"line {there}"
