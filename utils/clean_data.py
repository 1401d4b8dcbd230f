"""Plain data that an evaluator or a program returned, made safe to keep: clean texts, finite numbers, bounded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from utils.clean_text import clean
from utils.direction import finite

DEEPEST = 50
"""Levels of lists and mappings; what lies deeper is left out. Readers of JSON give up at a depth, each at its own."""
_WRITTEN_BITS = 14_000
"""Of a whole number: some 4,200 digits, and Python writes 4,300."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is kept. What comes first is kept first, the rest is left out."""

    values: float = math.inf
    """Numbers, texts, lists and mappings."""
    text: int | None = None
    """Characters of one text, the name of a value too; None: all of it."""
    characters: float = math.inf
    """Of all texts and names together."""


def clean_data(value: Any, most: Bounds = Bounds()) -> Any:
    """Plain data of the same form, whose texts are `clean`ed.

    A number that is not finite, or a whole one beyond floats, becomes its text: JSON has none of them, or none that all
    its readers take. What is no plain data becomes its text, too.
    """
    return _Cleaning(most).of(value, DEEPEST)


class _Cleaning:
    def __init__(self, most: Bounds) -> None:
        self._text = math.inf if most.text is None else most.text
        self._values, self._characters = most.values, most.characters

    def of(self, value: Any, levels: int) -> Any:
        self._values -= 1
        kind = type(value)
        if (kind is float and math.isfinite(value)) or value is None or kind is bool:
            return value
        if isinstance(value, int | float):
            return value if finite(value) is not None else self._cleaned(_digits(value))
        if isinstance(value, dict):
            return self._mapping(value, levels - 1)
        if isinstance(value, list | tuple):
            return self._list(value, levels - 1)
        return self._cleaned(str(value))

    def _mapping(self, value: dict[Any, Any], levels: int) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for name, item in value.items():
            if self._values <= 0 or self._characters <= 0 or not levels:
                break
            kept_name = self._cleaned(str(name))
            kept[kept_name] = self.of(item, levels)
        return kept

    def _list(self, value: list[Any] | tuple[Any, ...], levels: int) -> list[Any]:
        kept: list[Any] = []
        for item in value:
            if self._values <= 0 or self._characters <= 0 or not levels:
                break
            kept.append(self.of(item, levels))
        return kept

    def _cleaned(self, text: str) -> str:
        most = min(self._text, self._characters)
        if len(text) > most:
            text = text[: max(0, int(most))]
        if not (text.isascii() and text.isprintable()):
            text = clean(text)
        self._characters -= len(text)
        return text


def _digits(value: float) -> str:
    """A number's text; of a whole one that Python does not write, in hexadecimal digits."""
    return hex(value) if isinstance(value, int) and value.bit_length() > _WRITTEN_BITS else repr(value)
