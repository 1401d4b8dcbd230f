"""Columns of numbers that are written for people: `$1,200`, `1.234,50 €`, `72 kg`, `5 %`, `(46.54)`, `1:02:03`.

A column is one of numbers if all its cells have one form: the same sign before it, the same unit behind it, and marks
of thousands and fractions that agree. One cell of another form, and it stays text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .clocks import clock_in
from .text_look import BELOW_THOUSANDS, THOUSANDS, kind_of_number
from .with_columns import with_columns

_BLANKS = " \u00a0\u202f"
_SIGNS = "$€£¥₹₽₩%‰°"
_MONEY = "USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|KRW|TRY|RUB|Rs\\.?"
_CELL = re.compile(
    rf"\s*+(?P<minus>[-\u2212+]?)\s*(?P<sign>[A-Z]{{0,3}}[$€£¥₹₽₩]|{_MONEY}|)[{_BLANKS}]?"
    rf"(?P<less>[-\u2212]?)(?P<number>\d(?:[\d.,'’{_BLANKS}]*\d)?)[{_BLANKS}]?"
    rf"(?P<unit>(?:[^\W\d_]|[{_SIGNS}])[^\d,;]{{0,15}}[23]?|)\s*"
)
_BOOKED = re.compile(r"\s*(?P<sign>[A-Z]{0,3}[$€£¥₹₽₩]?)\s*\(\s*(?P<amount>[^()+\-\u2212]*)\)\s*")
"""As accountants write what is below 0."""
_WHOLE = r"(?:0|[1-9]\d*)"
"""Without zeros in front, which are part of a name (`007`)."""


def _grouped(thousands: str, fraction: str) -> re.Pattern[str]:
    return re.compile(rf"(?:[1-9]\d{{0,2}}(?:[{thousands}]\d{{3}})+|{_WHOLE})(?:{re.escape(fraction)}\d+)?")


_STYLES = {
    "1234.5": (re.compile(rf"{_WHOLE}(?:\.\d+)?"), "", "."),
    "1,234.5": (_grouped(",", "."), ",", "."),
    "1.234,5": (_grouped(".", ","), ".", ","),
    "1 234.5": (_grouped(f"'’{_BLANKS}", "."), f"'’{_BLANKS}", "."),
    "1 234,5": (_grouped(f"'’{_BLANKS}", ","), f"'’{_BLANKS}", ","),
}
"""How a number may be written: its pattern, marks of thousands, the mark of fractions. The first that fits is taken."""
CLOCK = ":"
"""The style of durations and times of day, and their mark of fractions."""
BARE = "1,234.5"
"""The only style that makes a number without sign or unit: pandas reads `1234.5`, and others may be lists or codes."""
COMMA = "1.234,5"
"""Where a text has commas before its fractions its points stand between thousands, and this style is one more."""
SPACED = ("1 234.5", "1 234,5")
"""And these, where some cells have marks of thousands and first groups differ in length: `12 345` beside `980`."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """The one form of a column's cells.

    Args:
        sign: before the number, '' for none.
        unit: behind it.
        style: the number's, a key of `_STYLES`.
        example: the first cell.
    """

    sign: str
    unit: str
    style: str
    example: str

    @property
    def fraction(self) -> str:
        """The mark of fractions."""
        return CLOCK if self.style == CLOCK else _STYLES[self.style][2]

    def numbers(self, values: Any) -> Any:
        """The cells as numbers, missing where they are; None if one has another form."""
        if values.dtype.kind in "iuf" and not (self.sign or self.unit or self.style == CLOCK):
            return values.astype(float)  # a test of few rows may hold none with a mark
        known = {text: _parts(text) for text in values.dropna().unique()}
        if not all(cell is not None and cell.is_of(self.sign, self.unit, self.style) for cell in known.values()):
            return None
        numbers = {text: cell.number(self.style) for text, cell in known.items() if cell is not None}
        return values.map(numbers).astype(float)

    def told(self) -> str:
        """The first cell and what it is read as."""
        cell = _parts(self.example)
        assert cell is not None
        return f"'{self.example.strip()[:30]}' as {cell.number(self.style):.12g}"


@dataclass(frozen=True, slots=True)
class _Cell:
    minus: bool
    sign: str
    unit: str
    digits: str
    booked: bool = False
    """Below 0 by its parentheses."""

    def is_of(self, sign: str, unit: str, style: str) -> bool:
        if style == CLOCK:
            return (self.sign, self.unit) == (sign, unit) and clock_in(self.digits) is not None
        return (self.sign, self.unit) == (sign, unit) and bool(_STYLES[style][0].fullmatch(self.digits))

    def number(self, style: str) -> float:
        if style == CLOCK:
            return clock_in(self.digits) or 0.0
        _, thousands, fraction = _STYLES[style]
        plain = float("".join(mark for mark in self.digits if mark not in thousands).replace(fraction, "."))
        return -plain if self.minus else plain


def _parts(text: Any) -> _Cell | None:
    """None for what is no amount. A unit's plural and case do not matter: `1 day`, `2 days`."""
    if not isinstance(text, str):
        return None
    booked = _BOOKED.fullmatch(text)
    if booked:
        inner = _CELL.fullmatch(booked["sign"] + booked["amount"])
        return None if inner is None else replace(_cell(inner), minus=True, booked=True)
    found = _CELL.fullmatch(text)
    if found is None:
        return None if clock_in(text) is None else _Cell(False, "", "", text)
    return _cell(found)


def _cell(found: re.Match[str]) -> _Cell:
    unit = found["unit"].strip(f".{_BLANKS}").casefold()
    minus = f"{found['minus']}{found['less']}".strip("+")
    return _Cell(bool(minus), found["sign"], unit.removesuffix("s") if len(unit) > 2 else unit, found["number"])


def number_in(text: str) -> float | None:
    """The number of a single cell with a sign, a unit or marks of thousands; None for other texts."""
    cell = _parts(text)
    if cell is None:
        return None
    styles = _STYLES if cell.sign or cell.unit else (BARE, CLOCK)
    fitting = [style for style in styles if cell.is_of(cell.sign, cell.unit, style)]
    return cell.number(fitting[0]) if fitting else None


def amounts_in(pieces: Callable[[], Iterable[Any]], *, are_numbers: bool = False, decimal: str = ".") -> Amounts | None:
    """The form that all cells of a column have; None where there is none, or nothing but missing cells.

    Args:
        pieces: the column from its beginning, some rows at a time.
        are_numbers: it can hold nothing else, so any style will do.
        decimal: the mark of fractions in the text that it is from.
    """
    first, styles, example = None, [*_STYLES, CLOCK], ""
    lengths, grouped = set[int](), False
    kinds = set[str]()
    all_booked = True
    for piece in pieces():
        for text in piece.dropna().unique():
            cell = _parts(text)
            first, example = first or cell, example or str(text)
            if cell is None or first is None:
                return None
            styles = [style for style in styles if cell.is_of(first.sign, first.unit, style)]
            if not styles:
                return None
            heads = re.split(f"['’{_BLANKS}]", cell.digits)
            lengths.add(len(heads[0]))
            grouped = grouped or len(heads) > 1
            kinds.add(kind_of_number(cell.digits, "."))
            all_booked = all_booked and cell.booked
    if first is None or all_booked:  # numbers of a list: (1), (2)
        return None
    if not (first.sign or first.unit or are_numbers):
        bare = (BARE, CLOCK, *SPACED) if grouped and len(lengths) > 1 else (BARE, CLOCK)
        styles = [style for style in styles if style in bare or (style == COMMA and decimal == ",")]
    if COMMA in styles and (decimal == "," or kinds == {THOUSANDS, BELOW_THOUSANDS}):
        styles = [COMMA]
    return Amounts(first.sign, first.unit, styles[0], example) if styles else None


def converted(table: Any, forms: Mapping[str, Amounts]) -> Any:
    """The table with those of its columns as numbers."""
    found = {name: form.numbers(table[name]) for name, form in forms.items() if name in table}
    return with_columns(table, {name: values for name, values in found.items() if values is not None})


def told(forms: Mapping[str, Amounts], most: int) -> list[str]:
    """A note of what is read as numbers; none where nothing is."""
    each = [f"{name[:60]} ({form.told()})" for name, form in forms.items()]
    more = f" and {len(each) - most} more" if len(each) > most else ""
    return [f"amounts are read as numbers: {', '.join(each[:most])}{more}"] if each else []
