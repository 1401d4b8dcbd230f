"""Ids of a sample submission that are put together: `3_12_2012-11-02` of a shop, a department and a day."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pandas as pd

WORD = ""
"""A part that is no column: the name of what is predicted, where the sample has a row for each."""
MOST_PARTS = 5


@dataclass(frozen=True, slots=True)
class Composition:
    """How ids are put together.

    Args:
        parts: columns of the test, or WORD.
        marks: what stands between them, one less.
    """

    parts: tuple[str, ...]
    marks: tuple[str, ...]

    def joined(self, cells: Mapping[str, Any], word: str = WORD) -> Any:
        """The ids of all rows, of their cells as text."""
        first, *rest = (cells[part] if part else word for part in self.parts)
        for mark, part in zip(self.marks, rest, strict=True):
            first = first + (mark + part)
        return first

    def told(self, word: str) -> str:
        names = [part or word for part in self.parts]
        return f"{', '.join(names[:-1])} and {names[-1]} with '{self.marks[0]}' between them"


@dataclass(frozen=True, slots=True)
class Composed:
    """The rows of a test under the ids of a sample.

    Args:
        how: they are put together.
        texts: of each row, of several words those of each word one after the other.
    """

    how: Composition
    texts: Any


def composed(
    ids: Any, names: Sequence[str], values: Callable[[str], Any], texts: Callable[[str], Any], words: Sequence[str] = ()
) -> Composed | None:
    """How the ids are those of the test's rows, each once; None where they are not.

    Args:
        ids: as they stand in the sample.
        names: columns of the test that may be parts.
        values: a column of it, as pandas reads it.
        texts: a column of it, as it stands there.
        words: what is predicted, where the sample has a row for each.
    """
    if not len(ids) or str(ids.iloc[0]).isalnum():
        return None
    known = {name: {str(value) for value in values(name).dropna().unique()} for name in names}
    if words:
        known[WORD] = set(words)
    wanted, count = set(ids), len(ids)
    for how in _readings(str(ids.iloc[0]), known, (), ()):
        if len(how.parts) > 1 and (WORD in how.parts) == bool(words):
            cells = {part: texts(part).str.strip() for part in how.parts if part}
            made = pd.concat([how.joined(cells, word) for word in words or [WORD]], ignore_index=True)
            if len(made) == count and made.is_unique and set(made) == wanted:
                return Composed(how, made)
    return None


def _readings(
    rest: str, known: Mapping[str, set[str]], parts: tuple[str, ...], marks: tuple[str, ...]
) -> Iterator[Composition]:
    """Ways to read an id as values of different columns with marks between them."""
    if len(parts) == MOST_PARTS:
        return
    for name, end in product((name for name in known if name not in parts), range(1, len(rest) + 1)):
        if rest[:end] not in known[name]:
            continue
        if end == len(rest):
            yield Composition((*parts, name), marks)
        elif not rest[end].isalnum():
            yield from _readings(rest[end + 1 :], known, (*parts, name), (*marks, rest[end]))


def without_words(ids: Any, words: Sequence[str]) -> tuple[Any, str] | None:
    """(the ids without what is predicted at their end, the mark before it): `10003_age` is 10003; None where one has
    none.
    """
    longest = sorted(words, key=len, reverse=True)
    ends = ids.map({text: next((word for word in longest if text.endswith(word)), "") for text in ids.unique()})
    sizes = ends.map(len)
    if not len(ids) or not (sizes > 0).all():
        return None
    bodies = pd.Series([text[: -size - 1] for text, size in zip(ids, sizes, strict=True)], ids.index, dtype=str)
    marks = {text[-size - 1 : -size] for text, size in zip(ids, sizes, strict=True)}
    mark = marks.pop()
    return None if marks or mark.isalnum() or not mark or (bodies == "").any() else (bodies, mark)
