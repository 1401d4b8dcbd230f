"""A text as a table: its columns in every usual form, and where a column's name stands at its head."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from .amounts import number_in
from .text_look import field_rows, separator

HEAD_ROWS = 10
"""Rows below a head amid other text that make a table: fewer are an example."""
MARKS = re.compile(r"[\s,;|:=\"'<>{}()\[\]]+")
FIELDS = re.compile(r"[,;|\t\n\"<>]+")


def grids(text: str, part: Callable[[str], list[str]] | None = None) -> Iterator[list[list[str]]]:
    """The text as columns: by its separator, by all marks and spaces, records of HTML and JSON, lying and standing.

    Args:
        part: gives those of its records that are looked at, which a mark ends; then no table lies. None: all.
    """
    lines = [line for line in (part("\n") if part else text.splitlines()) if line.strip()]
    marks = [MARKS.split(line.strip()) for line in lines]
    ways = [field_rows(lines, separator(lines[:60])), marks]
    for end in ("</tr>", "}", "]"):
        if end in text:
            records = part(end) if part else text.split(end)
            ways.append([MARKS.split(re.sub(r"</?t[a-z]*>", " ", line)) for line in records])
    for rows in ways:
        width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
        alike = [[plain(value) for value in row] for row in rows if len(row) == width]
        if alike and (part or len(alike) > width):
            yield [list(column) for column in zip(*alike, strict=True)]
        elif alike:
            yield alike
    yield from _of_json(text)


def _of_json(text: str) -> Iterator[list[list[str]]]:
    """The columns of a JSON object that has a list, or an object, for each."""
    if not text.lstrip().startswith("{"):
        return
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return
    lists = [list(each.values()) if isinstance(each, dict) else each for each in found.values()]
    columns = [[plain(value) for value in each] for each in lists if isinstance(each, list)]
    length = max(map(len, columns), default=0)
    yield [column for column in columns if len(column) == length]


def has_head(target: str, text: str, *, first: bool) -> bool:
    """True if the target's name stands where a column's name stands: in JSON, HTML, ARFF, or a first row."""
    name = re.escape(target)
    if first and text.lstrip("\ufeff \n\r\t")[:1] in ("{", "[") and re.search(rf'(?<!\\)"{name}"', text, re.I):
        return True
    if re.search(rf"<th[^>]*>\s*{name}\s*<|</{name}>|^@attribute\s+[\"']?{name}\b", text, re.I | re.M):
        return True
    return any(
        _is_head(match.start(), target, text, first=first)
        for match in re.finditer(rf"(?<![^\s,;|\"']){name}(?![^\s,;|\"'])", text, re.I)
    )


def _is_head(at: int, target: str, text: str, *, first: bool) -> bool:
    """True if a row of names, at which the table begins, is followed by rows of as many fields."""
    begin = text.rfind("\n", 0, at) + 1
    before = text[:begin].rstrip().rpartition("\n")[2]
    end = text.find("\n", at)
    if end < 0:
        return False
    head, aim = text[begin:end].strip("\r"), target.casefold()
    for mark in ",;\t|":
        if mark not in aim and aim not in [cell.strip().strip("\"'").strip().casefold() for cell in head.split(mark)]:
            continue  # most lines that hold the word; those below are seldom worth reading
        names, above = [*field_rows([head, before], mark), [], []][:2]
        continues = len(above) == len(names) > 1 and sum(map(bool, above)) > 1
        if continues or aim not in [name.strip().casefold() for name in names]:
            continue
        lines = [line for line in text[end : end + 200 * (len(head) + 200)].splitlines() if line.strip()][:HEAD_ROWS]
        rows = field_rows(lines, mark)
        is_word = len(names) > 1 or " " not in "".join(lines)
        alike = sum(len(row) == len(names) for row in rows)
        starts = first and not before
        if is_word and alike > len(rows) / 2 and (starts or alike == HEAD_ROWS):
            return True
    return False


def plain(value: Any) -> str:
    """A value as it is compared: numbers however they are written (`$1,200`), words in lower case."""
    return _plain(str(value))


@lru_cache(maxsize=1 << 16)  # words come again, and one that is no number takes ten times as long
def _plain(text: str) -> str:
    text = text.strip().strip("\"'")
    try:
        return f"{float(text):.12g}"
    except ValueError:
        number = number_in(text)
        return text.casefold() if number is None else f"{number:.12g}"
