"""Two programs compared line by line, in a time that no program can stretch."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from utils.syntax import source_lines

MOST_LINES = 1500
"""Lines of a program that are compared; difflib's time grows with their square."""


@dataclass(frozen=True, slots=True)
class LineDiff:
    """What changed from one program to another."""

    lines: list[str]
    """A unified diff: two lines of names, then its places, each with the lines around it; [] where nothing differs."""
    note: str
    """That only the beginnings were compared; '' where all was."""

    @property
    def text(self) -> str:
        return "\n".join([*self.lines, *([f"({self.note})"] if self.note else [])])


def line_diff(before: str, after: str, names: tuple[str, str] = ("", ""), around: int = 3) -> LineDiff:
    """From `before` to `after`, with `around` equal lines about each place; long ones by their beginnings."""
    old, new = source_lines(before), source_lines(after)
    cut = max(len(old), len(new)) > MOST_LINES
    lines = difflib.unified_diff(old[:MOST_LINES], new[:MOST_LINES], *names, n=around, lineterm="")
    return LineDiff(list(lines), f"Only the first {MOST_LINES} lines are compared." if cut else "")
