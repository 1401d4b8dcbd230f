"""QuotedOutputs: the output from which a text quotes, since prompts show what programs printed."""

from __future__ import annotations

from collections import OrderedDict
from zlib import crc32

_LINES = 8192
"""So many lines are known, two of an output; those of the oldest outputs leave first."""
_TELLING = 12
"""Bytes from which on a line says which output it is from."""


class QuotedOutputs:
    """Names of whole outputs by the lines that they begin and end with."""

    def __init__(self) -> None:
        self._names: OrderedDict[int, str] = OrderedDict()

    def keep(self, name: str, raw: bytes) -> None:
        """An output that lies whole under this name."""
        for line in _ends(raw):
            self._names[line] = name
            self._names.move_to_end(line)
        while len(self._names) > _LINES:
            self._names.popitem(last=False)

    def quoted(self, raw: bytes) -> str | None:
        """The newest output that ends or begins as this text does: likely the one that it quotes."""
        return next((self._names[line] for line in reversed(_ends(raw)) if line in self._names), None)

    def clear(self) -> None:
        self._names.clear()


def _ends(raw: bytes) -> list[int]:
    """The first and the last line that tells."""
    lines = raw.split(b"\n")
    telling = (next((line for line in way if len(line) >= _TELLING), b"") for way in (lines, reversed(lines)))
    return [crc32(line) for line in telling if line]
