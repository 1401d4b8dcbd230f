"""Where the blocks, quotes and thoughts of a model's reply begin and end. Never raises."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from utils.diff import REPLACE, SEARCH
from utils.syntax import source_lines, syntax_error

_ITEM = r"[ \t]*(?:(?:\d{1,3}[.)]|[-*+])[ \t]+)?"
"""What stands before a fence in a list. Prompts ask for two numbered parts, and models answer `2. ```python`."""
_FENCE = re.compile(rf"^({_ITEM})(`{{3,}}|~{{3,}})[ \t]*([\w+#.-]*)[^`]*$")
_LISTED_SEARCH, _LISTED_REPLACE = (
    re.compile(rf"^([ ]+)(?:{mark.pattern})$", re.IGNORECASE) for mark in (SEARCH, REPLACE)
)
_QUOTED = re.compile(r"^ {0,3}> ?")
_QUOTED_PART = re.compile(r"^ {0,3}> ?(?:`{3,}|~{3,}|<{5,9}[ \t]*SEARCH)", re.IGNORECASE | re.MULTILINE)
"""A line of Markdown's quotes, and one that begins a program or a change in them."""
_GLUED = re.compile(r"^([^`\n]*[^`\s][ \t]*)(`{3,}[a-zA-Z][\w+#.-]*[ \t]*)$", re.MULTILINE)
"""A fence behind the last word of a sentence: `Here it is: ```python`."""
_THOUGHT_OR_FENCE = re.compile(
    r"^[ \t]*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)|^[ \t]*<(?P<tag>thought|reasoning)>.*?</(?P=tag)>"
    rf"|(?P<end>^[ \t]*</think(?:ing)?>)|^(?P<item>{_ITEM})(?P<fence>`{{3,}}|~{{3,}})[^`\n]*$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_THOUGHTS = re.compile("</?(?:think|thought|reasoning)", re.IGNORECASE)
_TEXT_MARKS = ('"""', "'''")
_FENCES_IN_TEXT = 8
"""So many fences of a block may stand in texts of its program."""
_PYTHON = frozenset({"", "py", "python", "python3"})
_REMEMBERED = 64
"""Replies: each is read when it comes, when it is judged and when it becomes a node."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its label in lower case ('' where there is none) and its text without the fences."""

    language: str
    text: str


@lru_cache(maxsize=_REMEMBERED)
def split_blocks(text: str) -> tuple[str, tuple[Block, ...]]:
    """(prose outside of the fences, fenced blocks in order). A fence that is never closed runs to the end."""
    prose: list[str] = []
    blocks: list[Block] = []
    lines, place = source_lines(unlisted(text)), 0
    while place < len(lines):
        opened, end = _fence(lines[place]), place
        if opened is None:
            prose.append(lines[place])
        else:
            end = _end_of(lines, place, opened)
            body = lines[place + 1 : end]
            if end == len(lines) and (glued := _glued_end(body, opened[2])) is not None:
                end = place + 1 + glued
                body = [*body[:glued], body[glued].rstrip().removesuffix(opened[2])]
            blocks.append(_block(opened, body))
        place = end + 1
    return "\n".join(prose), tuple(blocks)


def _fence(line: str) -> re.Match[str] | None:
    """The fence that a line is. Few lines hold its marks, and to look for these is soon done."""
    return _FENCE.match(line) if "```" in line or "~~~" in line else None


def _end_of(lines: Sequence[str], place: int, opened: re.Match[str]) -> int:
    """The line on which the block that is opened at `place` is closed; behind the last where none closes it.

    A fence in a text of a Python program, as prompts for models hold them, closes nothing where a later one does.
    """
    ends = (n for n in range(place + 1, len(lines)) if _closes(_fence(lines[n]), opened))
    first = next(ends, len(lines))
    if opened[3].lower() in _PYTHON and _is_in_text("\n".join(lines[place + 1 : first])):
        later = islice(ends, _FENCES_IN_TEXT)
        return next((n for n in later if syntax_error("\n".join(lines[place + 1 : n])) is None), first)
    return first


def _glued_end(body: Sequence[str], marks: str) -> int | None:
    """The line of a block that nothing else closes which ends with its fence, behind code."""
    ends = (n for n, line in enumerate(body) if line.rstrip().endswith(marks) and line.strip("` \t"))
    return next(ends, None)


def _is_in_text(code: str) -> bool:
    """True for a beginning of a program that ends within a text of several lines."""
    odd = any(code.count(mark) % 2 for mark in _TEXT_MARKS)
    return odd and "unterminated triple-quoted" in (syntax_error(code) or "")


def _closes(found: re.Match[str] | None, opened: re.Match[str]) -> bool:
    """A fence further in than the first is text of the block: of a docstring, for one."""
    if found is None or found[1].strip() or len(found[1]) > len(opened[1]) + 3:
        return False
    return found[2].startswith(opened[2]) and not found[3]


def _block(opened: re.Match[str], body: Sequence[str]) -> Block:
    """Its text without a byte-order mark, which is of the file that was handed in and not of the program."""
    return Block(opened[3].lower(), "\n".join(body).removeprefix("\ufeff"))


@lru_cache(maxsize=_REMEMBERED)
def unlisted(text: str) -> str:
    """A reply whose fenced blocks and SEARCH/REPLACE blocks all stand at the margin, also those of lists and quotes."""
    lines, kept, place = _unquoted(text).split("\n"), list[str](), 0
    ends_of: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        if ">>>>>" in line and (found := _LISTED_REPLACE.match(line)):
            ends_of.setdefault(found[1], []).append(number)
    while place < len(lines):
        line, end = lines[place], place
        if (opened := _fence(line)) is not None:
            end = _end_of(lines, place, opened)
            width, closing = len(opened[1]), lines[end : end + 1]
            kept += [opened[1].rstrip()] if opened[1][:-1].strip(" \t-*+") else []
            kept += [line[width:], *less_indented(lines[place + 1 : end], width)]
            kept += [one.lstrip(" \t") for one in closing] if width else closing
        elif "<<<<<" in line and (begun := _LISTED_SEARCH.match(line)) is not None:
            known = ends_of.get(begun[1], [])
            later = bisect(known, place)
            end = known[later] if later < len(known) else place
            kept += less_indented(lines[place : end + 1], len(begun[1]))
        else:
            kept.append(line)
        place = end + 1
    return "\n".join(kept)


def _unquoted(text: str) -> str:
    """A reply without the `>` of Markdown's quotes where a program or a change of one stands in them, and with a line
    of its own for each fence that begins a block.

    What merely begins with `>` in a block, or looks like a fence there, is a line of it.
    """
    kept, lines, place = list[str](), text.split("\n"), 0
    has_glued = _may_be_glued(text) and _GLUED.search(text) is not None and _are_fences(lines)
    if not has_glued and not (_may_quote(text) and _QUOTED_PART.search(text)):
        return text
    while place < len(lines):
        end = _end_of_part(lines, place)
        if has_glued and end == place and (glued := _GLUED.match(lines[place])):
            kept.append(glued[1].rstrip())
            lines[place] = glued[2]
            continue
        part = lines[place:end] or [lines[place]]
        is_quote = end > place and _QUOTED.match(part[0]) and _QUOTED_PART.search("\n".join(part))
        kept += [_QUOTED.sub("", line) for line in part] if is_quote else part
        place = max(end, place + 1)
    return "\n".join(kept)


def _may_be_glued(text: str) -> bool:
    """False where each fence begins its line, which is soon seen."""
    return text.count("```") > f"\n{text}".count("\n```")


def _may_quote(text: str) -> bool:
    """False where no line begins as one of a quote does."""
    return any(f"\n{blanks}>" in f"\n{text}" for blanks in ("", " ", "  ", "   "))


def _are_fences(lines: Sequence[str]) -> bool:
    """True where fences behind words of a reply begin blocks, and are not only spoken of (`in a block of ```python`):
    without them there is no block, one that is never closed, or one with such a line in it."""
    blocks, place = 0, 0
    while place < len(lines):
        if (opened := _fence(lines[place])) is not None:
            end = _end_of(lines, place, opened)
            if end == len(lines) or any(map(_GLUED.match, lines[place + 1 : end])):
                return True
            blocks, place = blocks + 1, end
        place += 1
    return not blocks


def _end_of_part(lines: Sequence[str], place: int) -> int:
    """Behind the block, the change or the quote that begins on a line; that line itself where none does."""
    if (opened := _fence(lines[place])) is not None:
        return min(_end_of(lines, place, opened) + 1, len(lines))
    end = place
    if SEARCH.fullmatch(lines[place]):
        ends = (n + 1 for n in range(place, len(lines)) if REPLACE.fullmatch(lines[n]))
        return next(ends, len(lines))
    while end < len(lines) and _QUOTED.match(lines[end]):
        end += 1
    return end


def less_indented(lines: Sequence[str], width: int) -> list[str]:
    """Lines without that many blanks in front, or without as many as all of them have."""
    indents = [len(line) - len(line.lstrip(" ")) for line in lines if line.strip()]
    cut = min([width, *indents])
    return [line[cut:] for line in lines]


def up_to_last_block(text: str) -> str:
    """A reply up to the end of its last fenced block; '' where it holds none, or one that is never closed."""
    whole_lines, lines = source_lines(text, keepends=True), source_lines(text)
    place = last = 0
    while place < len(lines):
        if (opened := _fence(lines[place])) is not None:
            place = last = _end_of(lines, place, opened)
            if place == len(lines):
                return ""
            last += 1
        place += 1
    return "".join(whole_lines[:last])


def strip_thinking(text: str) -> str:
    """The reply without a reasoning model's `<think>`, `<thought>` or `<reasoning>` parts. In a fence such words are
    part of a program.

    Where the model's chat template opens the first part itself, the reply holds but its end, on a line of its own.
    """
    if not _THOUGHTS.search(text):
        return text
    kept: list[str] = []
    place = 0
    while found := _THOUGHT_OR_FENCE.search(text, place):
        kept.append(text[place : found.start()])
        place = found.end()
        if found["end"]:
            kept.clear()
        if fence := found["fence"]:
            most = len(found["item"]) + 3
            end = re.compile(rf"^[ \t]{{0,{most}}}{fence}{fence[0]}*[ \t]*$", re.MULTILINE).search(text, place)
            place = end.end() if end else len(text)
            kept.append(text[found.start() : place])
    return "".join([*kept, text[place:]])
