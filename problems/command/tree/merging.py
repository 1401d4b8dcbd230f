"""Two candidates of one base as one: file by file, and line by line where both changed the same file."""

from __future__ import annotations

from itertools import pairwise

from problems.command.tree.tree import Tree
from utils.line_matching import line_matcher

_Change = tuple[int, int, list[str]]
"""Lines of the base from, to; what stands there instead."""


def merged(first: Tree, second: Tree) -> Tree | None:
    """The tree with the changes of both; None where they contradict each other, or it is one of the two."""
    changes: dict[str, str | None] = {}
    for path in {**first.changes, **second.changes}:
        if path in first.changes and path in second.changes:
            if first.changes[path] == second.changes[path]:
                changes[path] = first.changes[path]
                continue
            text = _texts(first.ground.base.text(path), first.changes[path], second.changes[path])
            if text is None:
                return None
            changes[path] = text
        else:
            changes[path] = first.changes[path] if path in first.changes else second.changes[path]
    if changes in (dict(first.changes), dict(second.changes)):
        return None
    return Tree(first.ground, changes)


def _texts(base: str | None, first: str | None, second: str | None) -> str | None:
    if base is None or first is None or second is None:
        return None
    lines = base.split("\n")
    both = sorted(_changes(lines, first) + _changes(lines, second), key=lambda change: change[:2])
    unique = [change for place, change in enumerate(both) if place == 0 or change != both[place - 1]]
    for one, other in pairwise(unique):
        if other[0] <= one[1]:  # next to each other is too near to be sure of
            return None
    for low, high, new in reversed(unique):
        lines[low:high] = new
    return "\n".join(lines)


def _changes(base: list[str], text: str) -> list[_Change]:
    new = text.split("\n")
    found = line_matcher(base, new).get_opcodes()
    return [(i1, i2, new[j1:j2]) for tag, i1, i2, j1, j2 in found if tag != "equal"]
