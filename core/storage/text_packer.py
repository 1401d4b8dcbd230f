"""TextPacker: to which earlier text a new one is a difference, so that what texts of a run share lies once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from zlib import crc32

from core.storage.message_parts import OUTPUT
from core.storage.packing import PLAIN, WINDOW, Apart, Figures, dictionaries_of, difference, fitting, packed
from core.storage.quoted_outputs import QuotedOutputs

_PIECE = 4000
"""Characters that a piece of a long text has at least."""
_ONE_IN = 8
"""Behind one line in so many a long text may be cut."""
_TINY = 24
"""Shorter texts are stored as they are."""
_KINDS = 48
"""So many kinds of text are remembered, the least used one goes."""
_BASES = 3
"""Newest whole texts of a kind that others are differences to."""
_AGAIN = 16
"""After so many texts of a kind the forms are compared again."""
_TRIES = 2
"""After so many texts whose differences were not worth it the next ones are not compared, until forms are again."""
_WORTH = 0.9
"""A difference is worth its second read where it takes at most this share of the text alone."""
_QUOTE = 0.05
"""A text that quotes an output takes at most this share of its bytes as a difference to it."""
_LONG = 1000
"""From so many bytes on a text may quote an output."""


@dataclass(slots=True)
class _Base:
    """A text that lies whole."""

    name: str
    raw: bytes
    """Its end: as much as differences reach."""
    length: int
    alone: int
    """Bytes that it takes as it is stored."""
    lines: frozenset[bytes]
    dictionaries: dict[Figures, Apart]
    """What differences to it refer to, where one was made."""
    least: int = 0
    """Bytes of the smallest difference to it so far."""
    lost: int = 0
    """Bytes by which differences to it were larger than the smallest."""

    def difference(self, raw: bytes, figures: Figures) -> bytes:
        figures = fitting(figures, len(raw))
        if figures not in self.dictionaries:
            self.dictionaries[figures] = dictionaries_of(self.raw, figures)
        return difference(raw, self.name, self.dictionaries[figures], figures)


@dataclass(slots=True)
class _Kind:
    """What is known of texts of a kind."""

    bases: list[_Base] = field(default_factory=list)
    seen: int = 0
    failed: int = 0
    """So many times in a row a difference was hardly smaller than the text alone."""
    figures: Figures = Figures.WITHIN
    beginning: str = ""
    """The first piece of the newest long text."""


class TextPacker:
    """Packs the texts of one store in the order in which they come.

    A difference goes to a whole text, never to another difference, so that two reads give any text. When the
    differences to a whole text have lost more than a whole text costs, the next one is stored whole: texts move on.
    What a prompt quotes of an output is a difference to that output.

    Args:
        end_of: name of a text that lies whole → its end, as much as differences reach.
    """

    def __init__(self, end_of: Callable[[str], bytes]) -> None:
        self._kinds: OrderedDict[str, _Kind] = OrderedDict()
        self._outputs = QuotedOutputs()
        self._end_of = end_of

    def forget(self) -> None:
        """Nothing that was packed so far may be referred to: it was never stored."""
        self._kinds.clear()
        self._outputs.clear()

    def pack(self, name: str, raw: bytes, kind: str) -> bytes:
        """A text as it is stored.

        Args:
            name: of the text; later ones of its kind may refer to it from here on.
            kind: texts of a kind are like each other.
        """
        if len(raw) <= _TINY:
            return PLAIN + raw
        if kind != OUTPUT and len(raw) >= _LONG and (quote := self._quote(name, raw)):
            return quote
        known = self._kind(kind)
        looks = known.seen % _AGAIN == 0
        known.seen += 1
        known.failed = 0 if looks else known.failed
        found = self._difference(known, raw, looks) if known.bases and known.failed < _TRIES else None
        return self._alone(known, kind, name, raw, looks) if found is None else found

    def pieces(self, text: str, kind: str) -> list[str]:
        """A long text that begins as the one before it of its kind, cut behind lines that say so by their own words.

        So what the two share is cut alike: of a memory that grew by a line, only the end is a new text.
        """
        if len(text) <= _PIECE:
            return [text]
        cut, known = list(_cut(text)), self._kind(kind)
        begins_alike = known.beginning == cut[0]
        known.beginning = cut[0]
        return cut if begins_alike else [text]

    def is_base(self, kind: str, name: str) -> bool:
        """True if other texts may be stored as differences to that one, which lies whole."""
        if kind == OUTPUT:
            return True
        return any(base.name == name for base in self._kinds[kind].bases) if kind in self._kinds else False

    def _quote(self, name: str, raw: bytes) -> bytes | None:
        """The text as a difference to the output that it quotes, if it does."""
        output = self._outputs.quoted(raw)
        if output is None or output == name:
            return None
        end = self._end_of(output)
        forms = [difference(raw, output, dictionaries_of(end, one), one) for one in (Figures.WITHIN, Figures.APART)]
        found = min(forms, key=len)
        return found if len(found) <= _QUOTE * len(raw) else None

    def _kind(self, kind: str) -> _Kind:
        known = self._kinds.get(kind)
        if known is None:
            known = self._kinds[kind] = _Kind()
            if len(self._kinds) > _KINDS:
                self._kinds.popitem(last=False)
        self._kinds.move_to_end(kind)
        return known

    def _difference(self, known: _Kind, raw: bytes, looks: bool) -> bytes | None:
        """The text as a difference, or None where it is better stored whole."""
        base = _nearest(known.bases, raw)
        found = _smallest(known, looks, lambda figures: base.difference(raw, figures))
        size = len(found)
        if size > _WORTH * base.alone * len(raw) / base.length:
            known.failed += 1
            return None
        known.failed = 0
        base.least = min(base.least or size, size)
        base.lost += size - base.least
        if base.lost <= base.alone:
            return found
        base.least = base.lost = 0
        return None

    def _alone(self, known: _Kind, kind: str, name: str, raw: bytes, looks: bool) -> bytes:
        """The text whole; from here on others may be differences to it, where these are worth it."""
        found = _smallest(known, looks, lambda figures: packed(raw, figures))
        if known.failed < _TRIES:
            tail = raw[-WINDOW:]
            base = _Base(name, tail, len(raw), len(found), frozenset(tail.split(b"\n")), {})
            known.bases = [*known.bases[1 - _BASES :], base]
        if kind == OUTPUT:
            self._outputs.keep(name, raw)
        return found


def _cut(text: str) -> Iterator[str]:
    start, line = 0, _line_at(text, _PIECE)
    while end := text.find("\n", line) + 1:
        line_says_so = crc32(text[line:end].encode("utf-8", "surrogatepass")) % _ONE_IN == 0
        if end - start > _PIECE and line_says_so:
            yield text[start:end]
            start, line = end, _line_at(text, end + _PIECE)
        else:
            line = end
    yield text[start:]


def _line_at(text: str, place: int) -> int:
    """Where the line begins that this place is in."""
    return text.rfind("\n", 0, place) + 1


def _nearest(bases: list[_Base], raw: bytes) -> _Base:
    """The base that shares most lines with the text; of equals the newest."""
    if len(bases) == 1:
        return bases[0]
    lines = set(raw.split(b"\n"))
    return max(reversed(bases), key=lambda base: len(base.lines & lines))


def _smallest(known: _Kind, looks: bool, pack: Callable[[Figures], bytes]) -> bytes:
    """The text with its figures where those of its kind lie best, which is looked at anew if it `looks`."""
    if not looks:
        return pack(known.figures)
    forms = {figures: pack(figures) for figures in (known.figures, *Figures)}
    known.figures = min(forms, key=lambda figures: len(forms[figures]))
    return forms[known.figures]
