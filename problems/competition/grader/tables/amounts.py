"""Columns of numbers that are written for people: `$1,200`, `1.234,50 €`, `72 kg`, `5 %`, `(46.54)`, `1:02:03`.

A column is one of numbers if all its cells have one form: the same sign before it, the same unit behind it (or `1.2M`
beside `900k`), and marks of thousands and fractions that agree. One cell of another form, and it stays text, unless
that is a word for a missing value (`?`, `k.A.`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .clocks import clock_in
from .missing_words import is_missing, missing_in
from .text_look import BELOW_THOUSANDS, THOUSANDS, kind_of_number

_BLANKS = " \u00a0\u202f"
_SIGNS = "$€£¥₹₽₩%‰°+㎡㎥㎢㎜㎝㎞㎏℃℉"
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
_BOTH_MARKS = re.compile(rf"[\d.'’{_BLANKS}]*\d(?:[.'’{_BLANKS}]\d{{3}},|['’{_BLANKS}]\d{{3}}\.)\d+")
"""A number with marks of thousands and of fractions, which nothing else has."""
PLAIN = "1e-05"
"""As pandas reads numbers: with words for missing values among them it does not."""
_PLAIN = re.compile(r"\s*(?P<minus>[-+]?)(?P<number>(?:(?!0\d)\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?)\s*")
"""No names such as `007`."""
_EXACT = 15
"""Digits before the point that a number beside missing ones holds."""
MOST, LOOKED_AT = 0.8, 2000
"""Part of a column's cells that have one form where others are odd, of so many."""
SCALES = {
    **dict.fromkeys(("k", "tsd", "tausend", "thousand", "тыс", "千"), 1e3), **dict.fromkeys(("lakh", "lac"), 1e5),
    **dict.fromkeys(("m", "mn", "mio", "million", "млн"), 1e6), **dict.fromkeys(("cr", "crore"), 1e7),
    **dict.fromkeys(("b", "bn", "mrd", "billion", "млрд"), 1e9), **dict.fromkeys(("万", "萬"), 1e4),
    **dict.fromkeys(("億", "亿"), 1e8),
}  # fmt: skip
"""Units that say how many: where a column has several of them, they are counted in."""
_OR_ELSE = {"m", "b", "cr"}
"""What may be metres, bytes or credit where cells beside it have no unit."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """The one form of a column's cells.

    Args:
        sign: before the number, '' for none.
        unit: behind it.
        style: the number's, a key of `_STYLES`.
        example: the first cell.
        scales: units are `SCALES`, or none, and each counts.
        missing: cells, without blanks around them, that say that there is no value.
    """

    sign: str
    unit: str
    style: str
    example: str
    scales: bool = False
    missing: tuple[str, ...] = ()

    @property
    def fraction(self) -> str:
        """The mark of fractions; '' for numbers that pandas reads by itself."""
        return _STYLES[self.style][2] if self.style in _STYLES else {CLOCK: CLOCK, PLAIN: ""}[self.style]

    def read(self, values: Any) -> Any:
        """The cells as numbers, missing where they are; None if one has another form."""
        if values.dtype.kind in "iuf" and not (self.sign or self.unit or self.style == CLOCK):
            return values.astype(float)  # a test of few rows may hold none with a mark
        known = {text: _parts(text) for text in values.dropna().unique() if not is_missing(text)}
        if not all(cell is not None and self._has(cell) for cell in known.values()):
            return None
        numbers = {text: self._number(cell) for text, cell in known.items() if cell is not None}
        return values.map(numbers).astype(float)

    def also(self, values: Any) -> Amounts:
        """The form with the words for missing values of another table's column, too."""
        return replace(self, missing=tuple(sorted({*self.missing, *missing_in(values)})))

    def _has(self, cell: _Cell) -> bool:
        unit = cell.unit in ("", *SCALES) if self.scales else cell.unit == self.unit
        return unit and cell.is_of(self.sign, self.style)

    def _number(self, cell: _Cell) -> float:
        return cell.number(self.style) * (SCALES.get(cell.unit, 1) if self.scales else 1)

    def told(self) -> str:
        """The first cell and what it is read as."""
        cell = _parts(self.example)
        assert cell is not None
        return f"'{self.example.strip()[:30]}' as {self._number(cell):.12g}"


@dataclass(frozen=True, slots=True)
class _Cell:
    minus: bool
    sign: str
    unit: str
    digits: str
    booked: bool = False
    """Below 0 by its parentheses."""

    def is_of(self, sign: str, style: str) -> bool:
        if self.sign != sign:
            return False
        if style in (CLOCK, PLAIN):
            return (clock_in if style == CLOCK else _PLAIN.fullmatch)(self.digits) is not None
        return bool(_STYLES[style][0].fullmatch(self.digits))

    def number(self, style: str) -> float:
        if style == CLOCK:
            return clock_in(self.digits) or 0.0
        if style == PLAIN:
            return -float(self.digits) if self.minus else float(self.digits)
        _, thousands, fraction = _STYLES[style]
        plain = float("".join(mark for mark in self.digits if mark not in thousands).replace(fraction, "."))
        return -plain if self.minus else plain


def _parts(text: Any) -> _Cell | None:
    """None for what is no amount. A unit's plural and case do not matter: `1 day`, `2 days`."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        text = repr(text)  # a spreadsheet's number amid words
    if not isinstance(text, str):
        return None
    booked = _BOOKED.fullmatch(text)
    if booked:
        inner = _CELL.fullmatch(booked["sign"] + booked["amount"])
        return None if inner is None else replace(_cell(inner), minus=True, booked=True)
    found = _CELL.fullmatch(text)
    if found is not None:
        return _cell(found)
    if number := _PLAIN.fullmatch(text):
        return _Cell(number["minus"] == "-", "", "", number["number"])
    return None if clock_in(text) is None else _Cell(False, "", "", text)


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
    fitting = [style for style in styles if cell.is_of(cell.sign, style)]
    return cell.number(fitting[0]) if fitting else None


def is_amount(text: Any) -> bool:
    """True for a cell that is a number of some form."""
    return _parts(text) is not None


def amounts_in(pieces: Callable[[], Iterable[Any]], *, are_numbers: bool = False, decimal: str = ".") -> Amounts | None:
    """The form that all cells of a column have; None where there is none, or nothing but missing cells.

    Args:
        pieces: the column from its beginning, some rows at a time.
        are_numbers: it can hold nothing else, so any style will do.
        decimal: the mark of fractions in the text that it is from.
    """
    first, styles, example = None, [*_STYLES, CLOCK, PLAIN], ""
    lengths, grouped, longest = set[int](), False, 0
    kinds, units, missing = set[str](), set[str](), set[str]()
    all_booked, both = True, False
    for piece in pieces():
        missing |= missing_in(piece)
        for text in piece.dropna().unique():
            if is_missing(text):
                continue
            cell = _parts(text)
            first, example = first or cell, example or (text if isinstance(text, str) else repr(text))
            if cell is None or first is None:
                return None
            units.add(cell.unit)
            styles = [style for style in styles if cell.is_of(first.sign, style)]
            if not styles or (len(units) > 1 and not units <= {"", *SCALES}):
                return None
            heads = re.split(f"['’{_BLANKS}]", cell.digits)
            lengths.add(len(heads[0]))
            grouped = grouped or len(heads) > 1
            both = both or _BOTH_MARKS.fullmatch(cell.digits) is not None
            longest = max(longest, sum(map(str.isdigit, cell.digits.partition(".")[0])))
            kinds.add(kind_of_number(cell.digits, "."))
            all_booked = all_booked and cell.booked
    scales = len(units) > 1
    if first is None or all_booked or (scales and not _are_scales(units)):  # numbers of a list: (1), (2)
        return None
    if not (any(units) or first.sign or are_numbers):
        bare = [BARE, CLOCK, *(SPACED if both or (grouped and len(lengths) > 1) else ()), *([PLAIN] if missing else ())]
        if missing and longest > _EXACT:
            return None
        styles = [style for style in styles if style in bare or (style == COMMA and (both or decimal == ","))]
    if COMMA in styles and (decimal == "," or kinds == {THOUSANDS, BELOW_THOUSANDS}):
        styles = [COMMA]
    if not styles:
        return None
    style = PLAIN if PLAIN in styles and missing and not (any(units) or first.sign) else styles[0]
    return Amounts(first.sign, first.unit, style, example, scales, tuple(sorted(missing)))


def odd_one(values: Any) -> str:
    """A cell that alone with a few keeps a column of text from being one of numbers; '' where there is none."""
    there = values.dropna().iloc[:LOOKED_AT]
    texts = there[~there.map(is_missing)]
    known = {text: _parts(text) for text in texts.unique()}
    kinds = texts.map({text: None if cell is None else _kind(cell) for text, cell in known.items()})
    commonest = kinds.value_counts()
    if not len(commonest) or not MOST <= commonest.iloc[0] / len(texts) < 1:
        return ""
    return str(next(text for text, kind in zip(texts, kinds, strict=True) if kind != commonest.index[0]))


def _kind(cell: _Cell) -> tuple[str, str]:
    return cell.sign, "" if cell.unit in SCALES else cell.unit


def _are_scales(units: set[str]) -> bool:
    """True for several that each say how many."""
    return bool(units - {"", *_OR_ELSE}) or len(units - {""}) > 1


def told(forms: Mapping[str, Amounts], most: int) -> list[str]:
    """Notes of what is read as numbers, and of words for missing values among them; none where nothing is."""
    amounts = [f"{name[:60]} ({form.told()})" for name, form in forms.items() if form.style != PLAIN]
    words = [f"{name[:60]} ({_quoted(form.missing)})" for name, form in forms.items() if form.missing]
    return [
        f"{said}: {', '.join(each[:most])}{f' and {len(each) - most} more' if len(each) > most else ''}"
        for said, each in (("amounts are read as numbers", amounts), ("missing among numbers are", words))
        if each
    ]


def _quoted(words: tuple[str, ...]) -> str:
    return ", ".join(f"'{word[:20]}'" if word else "blanks" for word in words[:4]) + (" …" if len(words) > 4 else "")
