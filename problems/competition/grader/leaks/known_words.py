"""Where known words stand in a long text, found by hashes of all its words at once: a text of gigabytes has hundreds of
millions of words, and nearly none of them is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache  # noqa: TID251 - one thread, and nothing of ours can be imported
from itertools import pairwise
from typing import Any

import numpy as np

BLOCK = 1 << 20
"""Characters that are hashed at once."""
BASE = 0x9E3779B97F4A7C15
"""Of the polynomial whose value, modulo 2⁶⁴, is a word's hash: odd, so that it has an inverse."""
MOST_BITS = 24
"""Of a hash, by which most words are known to be none of ours."""
_TOP = 0x3001
"""The last character that is a blank, and one more."""
_BLANK = np.array([chr(code).isspace() for code in range(_TOP + 1)])


class Marks:
    """Signs that part words; blanks at a word's ends are no part of it.

    Args:
        signs: characters below U+0080.
        blanks: true if every blank parts words, too.
    """

    def __init__(self, signs: str, *, blanks: bool) -> None:
        self.is_mark = _BLANK.copy() if blanks else np.zeros(_TOP + 1, bool)
        self.is_mark[[ord(sign) for sign in signs]] = True
        self.blanks = blanks

    def places(self, codes: Any) -> Any:
        """Where they stand."""
        return np.flatnonzero(_is_in(self.is_mark, codes))


@dataclass(frozen=True, slots=True)
class Found:
    """Known words of a text, in their order.

    Args:
        starts, ends: where they stand.
        places: the rows that they name.
        words: how many words the text has.
    """

    starts: Any
    ends: Any
    places: Any
    words: int

    @classmethod
    def joined(cls, parts: list[Found]) -> Found:
        none = np.zeros(0, "int64")
        starts, ends, places = (
            np.concatenate([none, *(getattr(part, name) for part in parts)]) for name in ("starts", "ends", "places")
        )
        return cls(starts, ends, places, sum(part.words for part in parts))


class KnownWords:
    """Words, and the row that each names."""

    def __init__(self, rows: Mapping[str, int]) -> None:
        self.rows = rows

    @cached_property
    def _table(self) -> tuple[Any, Any, Any, list[str]]:
        """Sorted hashes, the rows that they name, which first bits they have, and the words."""
        words = [word for word in self.rows if "\n" not in word and word]
        text = "\n".join(words)
        lengths = np.fromiter(map(len, words), "int64", len(words))
        ends = np.cumsum(lengths + 1) - 1
        hashes = np.zeros(len(words), "uint64")
        parts = [0, *np.unique(np.searchsorted(ends, np.arange(BLOCK, len(text), BLOCK))), len(words)]
        for first, last in pairwise(parts):
            if first < last:
                begin = int(ends[first] - lengths[first])
                codes = codes_of(text[begin : int(ends[last - 1])])
                starts = ends[first:last] - lengths[first:last]
                hashes[first:last] = _hashes(_sums(codes), starts - begin, ends[first:last] - begin)
        order = np.argsort(hashes, kind="stable")
        places = np.fromiter((self.rows[word] for word in words), "int64", len(words))
        bits = np.zeros(1 << min(MOST_BITS, (16 * len(words)).bit_length()), bool)
        bits[_first_bits(hashes, bits)] = True
        return hashes[order], places[order], bits, [words[at] for at in order]

    def found(self, text: str, ways: Sequence[Marks]) -> list[Found]:
        """Where words of a text, in small letters, are known, for each way to part them."""
        codes, parts = codes_of(text), [[] for _ in ways]  # type: tuple[Any, list[list[Found]]]
        for begin, end in _blocks(codes, ways):
            block, sums, edges = codes[begin:end], _sums(codes[begin:end]), None
            for marks, found in zip(ways, parts, strict=True):
                words = _words(block, marks)
                if edges is None or not all(map(np.array_equal, words, edges)):
                    edges, one = words, self._in_block(text[begin:end], sums, *words)
                found.append(replace(one, starts=one.starts + begin, ends=one.ends + begin))
        return [Found.joined(found) for found in parts]

    def found_in_short(self, text: str, split: re.Pattern[str]) -> Found:
        """The same, word by word: quicker where these are few."""
        starts, ends, places, begin, count = [], [], [], 0, 0
        for mark in (*split.finditer(text), None):
            word = text[begin : mark.start() if mark else None]
            bare = word.strip()
            count += bool(bare)
            if (place := self.rows.get(bare)) is not None:
                starts.append(begin + word.index(bare))
                ends.append(starts[-1] + len(bare))
                places.append(place)
            begin = mark.end() if mark else 0
        return Found(np.array(starts, "int64"), np.array(ends, "int64"), np.array(places, "int64"), count)

    def _in_block(self, text: str, sums: Any, starts: Any, ends: Any) -> Found:
        known, places, bits, words = self._table
        count = len(starts)
        if not count or not words:
            return Found(starts[:0], starts[:0], starts[:0], count)
        hashes = _hashes(sums, starts, ends)
        may_be = np.flatnonzero(bits[_first_bits(hashes, bits)])
        at = np.searchsorted(known, hashes[may_be]).clip(max=len(known) - 1)
        is_known = known[at] == hashes[may_be]
        at, starts, ends = at[is_known], starts[may_be[is_known]], ends[may_be[is_known]]
        wrong = [n for n in np.unique(at, return_index=True)[1] if text[starts[n] : ends[n]] != words[at[n]]]
        right = ~np.isin(at, at[wrong])  # hashes agree by chance
        return Found(starts[right], ends[right], places[at[right]], count)


def codes_of(text: str) -> Any:
    """The characters as numbers."""
    try:
        return np.frombuffer(text.encode("latin-1"), np.uint8)
    except UnicodeEncodeError:
        return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _is_in(table: Any, codes: Any) -> Any:
    return table[codes] if codes.dtype == np.uint8 else table[np.minimum(codes, _TOP)]


def _blocks(codes: Any, ways: Sequence[Marks]) -> Iterator[tuple[int, int]]:
    """Parts of some `BLOCK` characters that end behind a mark of all ways, so that each word lies in one."""
    parts = np.logical_and.reduce([marks.is_mark for marks in ways])
    start = 0
    while start < len(codes):
        end = min(start + BLOCK, len(codes))
        while end < len(codes):
            at = np.flatnonzero(_is_in(parts, codes[max(start, end - BLOCK) : end]))
            if len(at):
                end = max(start, end - BLOCK) + int(at[-1]) + 1
                break
            end = min(end + BLOCK, len(codes))
        yield start, end
        start = end


def _words(codes: Any, marks: Marks) -> tuple[Any, Any]:
    """Where words begin and end, without the blanks around them."""
    is_mark = _is_in(marks.is_mark, codes)
    edges = np.flatnonzero(np.diff(is_mark, prepend=True, append=True))
    starts, ends = edges[::2], edges[1::2]
    if marks.blanks or not len(starts):
        return starts, ends
    is_blank = _is_in(_BLANK, codes)
    if not (is_blank[starts].any() or is_blank[ends - 1].any()):
        return starts, ends
    letters = np.flatnonzero(~is_blank)
    if not len(letters):
        return starts[:0], ends[:0]
    first = np.searchsorted(letters, starts)
    last = np.searchsorted(letters, ends) - 1
    there = first <= last
    return letters[first[there]], letters[last[there]] + 1


def _sums(codes: Any) -> Any:
    """The polynomial up to each character."""
    sums = np.zeros(len(codes) + 1, "uint64")
    np.cumsum((codes.astype("uint64") + np.uint64(1)) * _powers(len(codes) + 1)[0][: len(codes)], out=sums[1:])
    return sums


def _hashes(sums: Any, starts: Any, ends: Any) -> Any:
    return (sums[ends] - sums[starts]) * _powers(len(sums))[1][starts]


def _powers(count: int) -> tuple[Any, Any]:
    """So many powers of `BASE` and of its inverse, at least."""
    return _all_powers(1 << max(10, (count - 1).bit_length()))


@lru_cache(maxsize=4)
def _all_powers(count: int) -> tuple[Any, Any]:
    found = []
    for base in (BASE, pow(BASE, -1, 1 << 64)):
        powers = np.full(count, base, "uint64")
        powers[0] = 1
        found.append(np.multiply.accumulate(powers))
    return found[0], found[1]


def _first_bits(hashes: Any, bits: Any) -> Any:
    """Of each hash a place in the table."""
    return (hashes * np.uint64(BASE)) >> np.uint64(65 - len(bits).bit_length())
