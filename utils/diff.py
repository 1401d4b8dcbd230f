"""SEARCH/REPLACE blocks: the form in which models change a part of a long program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from utils.syntax import source_lines

SEARCH, _BETWEEN, REPLACE = (
    re.compile(mark, re.IGNORECASE)
    for mark in (r"(<{5,9})[ \t]*SEARCH:?[ \t\r]*", r"(={5,9})[ \t]*", r">{5,9}[ \t]*REPLACE[ \t\r]*")
)
"""Whole lines before, between and after the two texts of a block, as models write them."""
MISFITS_TOLD = 6
"""Blocks that do not fit, of one reply."""


@dataclass(frozen=True, slots=True)
class Change:
    """One block: lines to find, lines to put in their place; '' inserts at the top or deletes."""

    search: str
    replace: str
    mark: str = ""
    """The line that was between the two, where `replace` may hold it again: the program may have lines like it."""


class DiffError(ValueError):
    """A block that has no end or does not fit the program; the text says which and why."""


def parse_diff(reply: str) -> list[Change]:
    """The blocks of a reply, in order, its lines ended as ours are; [] where there are none.

    Raises:
        DiffError: one has no end. Nothing of such a reply is done: what was cut off may have been to follow.
    """
    changes: list[Change] = []
    opened, body = "", list[str]()
    for line in reply.replace("\r\n", "\n").split("\n"):
        begun = SEARCH.fullmatch(line)
        if begun and opened:
            raise _without_end(len(changes) + 1, body, "before the next one begins")
        if begun:
            opened, body = begun[1], []
        elif opened and REPLACE.fullmatch(line):
            if not _betweens(body):
                raise _without_end(len(changes) + 1, body, "before its end")
            changes.append(_change(opened, body))
            opened = ""
        elif opened:
            body.append(line)
    if opened:
        raise _without_end(len(changes) + 1, body, "at the end of the reply")
    return changes


def _change(opened: str, body: Sequence[str]) -> Change:
    """The block, parted at its first line of as many `=` as it began with `<`, else at its first of any.

    Source: OpenEvolve wants exactly seven, as prompts show them; aider takes five to nine.
    """
    marks = _betweens(body)
    place = next((i for i, mark in marks.items() if len(mark) == len(opened)), min(marks))
    search, replace = ("".join(f"{line}\n" for line in part) for part in (body[:place], body[place + 1 :]))
    return Change(search, replace, marks[place])


def _betweens(body: Sequence[str]) -> dict[int, str]:
    """The lines that may part a block's two texts, by their places."""
    return {i: found[1] for i, line in enumerate(body) if (found := _BETWEEN.fullmatch(line))}


def has_blocks(reply: str) -> bool:
    """True for a reply that means to change parts of a program, whether it can be read or not."""
    try:
        return bool(parse_diff(reply))
    except DiffError:
        return True


def _without_end(number: int, body: Sequence[str], where: str) -> DiffError:
    """Source: aider's editblock_coder tells the model the same; OpenEvolve passes over such a block."""
    mark = ">>>>>>> REPLACE" if _betweens(body) else "======="
    first = next((line.strip() for line in body if line.strip()), "")
    return DiffError(f"block {number} (from {first[:80]!r} on) has no line `{mark}` {where}; no block was applied")


def apply_diff(code: str, changes: Sequence[Change], first: int = 1) -> str:
    """The program with every change made, each in its first place; DiffError if texts to find are not there, with all
    of these: whoever hears of one at a time mends one at a time.

    Trailing blanks do not matter, and a block whose every line lacks the same indentation still fits.

    Args:
        first: the number of the first block, as its writer counts.
    """
    misfits = []
    for number, change in enumerate(changes, first):
        try:
            code = _apply_one(code, change, number)
        except DiffError as error:
            misfits.append(str(error))
    if misfits:
        raise DiffError(together(misfits))
    return code


def together(misfits: Sequence[str]) -> str:
    """What is wrong with several blocks, in one line."""
    more = len(misfits) - MISFITS_TOLD
    return "; ".join([*misfits[:MISFITS_TOLD], *([f"and {more} more do not fit"] if more > 0 else [])])


def _apply_one(code: str, change: Change, number: int) -> str:
    lines = source_lines(code)
    search, new = _parted(lines, change)
    if not search:
        return "\n".join([*new, *lines]) + "\n"
    if (found := _found(lines, search)) is None:
        raise DiffError(f"block {number}: {_misfit(lines, search)}")
    start, indent = found
    shifted = [indent + line if line.strip() else line for line in new]
    return "\n".join([*lines[:start], *shifted, *lines[start + len(search) :]]) + "\n"


def _parted(lines: Sequence[str], change: Change) -> tuple[list[str], list[str]]:
    """(lines to find, from the first that is not blank on, blank ones at the end where they stand there; lines to put
    there).

    A mark that stands in the program behind what is to be found is a line of it, where another mark follows.
    """
    search, new = source_lines(change.search), source_lines(change.replace)
    while search and not search[0].strip():
        del search[0]
    while search and not search[-1].strip() and _found(lines, search) is None:
        del search[-1]
    marks = [i for i, line in enumerate(new) if line.rstrip() == change.mark != ""]
    begun = 0
    for place in marks:
        longer = [*search, change.mark]
        if _found(lines, longer) is None:
            break
        search, begun = [*longer, *new[begun:place]], place + 1
    return search, new[begun:]


def _found(lines: Sequence[str], search: Sequence[str]) -> tuple[int, str] | None:
    """Where `search` stands first, and the indentation that it lacks there."""
    for start in range(len(lines) - len(search) + 1):
        indent = _fits(lines[start : start + len(search)], search)
        if indent is not None:
            return start, indent
    return None


def _misfit(lines: Sequence[str], search: Sequence[str]) -> str:
    """Why `search` stands nowhere in `lines`, with the line that its author may have meant."""
    there = list(dict.fromkeys(line.strip() for line in lines if line.strip()))
    lost = next((line.strip() for line in search if line.strip() and line.strip() not in there), None)
    if lost is None and (place := _like(lines, search)) is not None:
        pairs = [
            (_indent(lines[place + at]), _indent(line), line.strip()) for at, line in enumerate(search) if line.strip()
        ]
        there_now, here, line = next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])
        return f"line {line[:80]!r} begins with {there_now!r} in the program, not with {here!r}"
    if lost is None:
        return f"its lines, from {search[0].strip()[:80]!r} on, do not follow each other in the program"
    whole = [line for line in there if lost in line] or get_close_matches(lost, there, n=1)
    near = f"; the nearest is {whole[0][:160]!r}" if whole else ""
    return f"the program has no line {lost[:80]!r} (whole lines, exactly as they stand there){near}"


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _like(lines: Sequence[str], search: Sequence[str]) -> int | None:
    """Where the lines stand but for their indentation."""
    plain, wanted = [line.strip() for line in lines], [line.strip() for line in search]
    places = range(len(plain) - len(wanted) + 1)
    return next((place for place in places if plain[place : place + len(wanted)] == wanted), None)


def _fits(lines: Sequence[str], search: Sequence[str]) -> str | None:
    """The indentation that `search` lacks to be `lines` ('' for none), or None."""
    first = next((i for i, line in enumerate(search) if line.strip()), 0)
    lacking = len(lines[first]) - len(lines[first].lstrip()) - (len(search[first]) - len(search[first].lstrip()))
    if lacking < 0:
        return None
    indent = lines[first][:lacking]
    same = all(
        a.rstrip() == (indent + b).rstrip() or (not a.strip() and not b.strip())
        for a, b in zip(lines, search, strict=True)
    )
    return indent if same else None
