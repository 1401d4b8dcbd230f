"""Columns of dates that no one format reads: in several ways, in words of other languages, with words for no date.

Each way is read by itself if it can mean one thing. Where one could be day first or month first, others with the same
marks tell; else the column stays text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import pandas as pd

from .iso_dates import in_english, iso_dates, shape_of
from .missing_words import is_missing, missing_in
from .times import DAY_FIRST, LOOKED_AT, MONTH_FIRST, date_formats, read

MOST_SHAPES = 20
"""Ways to write a date in one column."""
HEAD = 200
"""Cells that tell whether a column may be one of dates."""


@dataclass(frozen=True, slots=True)
class Dates:
    """How a column's dates are written.

    Args:
        formats: shape → the format that reads cells of it, of `shape_of` and `pandas.to_datetime`.
        clock: some have an hour.
        examples: the first cell of each of the first two shapes.
        missing: cells, without blanks around them, that say that there is no date.
    """

    formats: dict[str, str]
    clock: bool
    examples: tuple[str, ...]
    missing: tuple[str, ...] = ()

    def read(self, values: Any) -> Any:
        """The cells as ISO 8601, missing where they are; None if one is written otherwise."""
        if not len(values):
            return values
        return iso_dates(values, self.formats, self.clock, missing_in(values))

    def also(self, values: Any) -> Dates:
        """These with the words for missing values of another table's column, too."""
        return replace(self, missing=tuple(sorted({*self.missing, *missing_in(values)})))

    def told(self) -> str:
        """A cell of each of two ways, and what they are read as."""
        pairs = [f"'{text[:30]}' as {self.read(pd.Series([text], dtype=object))[0]}" for text in self.examples]
        return " and ".join([*pairs, *(f"'{word[:20]}'" if word else "blanks" for word in self.missing[:1])]) + (
            " as missing" if self.missing else ""
        )


def dates_in(pieces: Callable[[], Iterable[Any]], *, in_part: bool = False) -> Dates | None:
    """How the dates of a column of text are written, where pandas would not read all of them in one way; None for other
    columns, and where a date may mean two.

    Args:
        in_part: there are more cells, which may be written otherwise and tell what dates of these mean.
    """
    shapes: dict[str, set[str]] = {}
    examples: dict[str, str] = {}
    missing = set[str]()
    raw: dict[str, None] = {}
    for piece in pieces():
        cells = [str(text) for text in piece.dropna().unique()]
        missing |= {text.strip() for text in cells if is_missing(text)}
        raw |= {text: None for text in cells if not is_missing(text)}
        if len({shape_of(in_english(text)) for text in islice(raw, LOOKED_AT)}) > MOST_SHAPES:
            return None
    if not raw or (not missing and not in_part and date_formats(pd.Series(sorted(raw)))):
        return None
    for text in raw:
        plain = in_english(text)
        shape = shape_of(plain)
        shapes.setdefault(shape, set()).add(plain)
        examples.setdefault(shape, text.strip())
        if len(shapes) > MOST_SHAPES:
            return None
    columns = {shape: pd.Series(sorted(texts)) for shape, texts in shapes.items()}
    known: dict[str, list[str]] = {}
    for shape, texts in columns.items():
        known[shape] = date_formats(texts)
        if not known[shape]:
            return None
    formats = {shape: (in_part and forms[0]) or _meant(shape, forms, known) for shape, forms in known.items()}
    if not all(formats.values()):
        return None
    times = [read(columns[shape], form) for shape, form in formats.items()]
    clock = any((time != time.dt.normalize()).any() for time in times)
    return Dates(formats, clock, tuple(examples.values())[:2], tuple(sorted(missing)))


def _meant(shape: str, forms: list[str], known: dict[str, list[str]]) -> str:
    """The format of a shape; '' for two that other shapes of the same marks do not tell apart."""
    if len(forms) == 1:
        return forms[0]
    alike = [found[0] for other, found in known.items() if len(found) == 1 and _mark(other) == _mark(shape)]
    orders = {_order(form) for form in alike} - {""}
    fitting = [form for form in forms if _order(form) in orders]
    return fitting[0] if len(orders) == 1 and len(fitting) == 1 else ""


def _order(form: str) -> str:
    """Whether a format is `day` or `month` first; '' for others."""
    day = form.partition(" ")[0]
    return "day" if day in DAY_FIRST else "month" if day in MONTH_FIRST else ""


def _mark(shape: str) -> str:
    """What stands between the first two numbers."""
    return shape[1:2]


def may_be_dates(values: Any) -> bool:
    """True if each of the first cells has a digit or says that there is none: a quick look."""
    head = values.dropna().astype(str).iloc[:HEAD]
    there = [text for text in head if not is_missing(text)]
    return bool(there) and all(len(text) < 60 and sum(map(str.isdigit, text)) >= 3 for text in there)


def told(forms: dict[str, Dates], most: int) -> list[str]:
    """A note of the columns whose dates are read; none where there are none."""
    each = [f"{name[:60]} ({form.told()})" for name, form in forms.items()]
    more = f" and {len(each) - most} more" if len(each) > most else ""
    return [f"dates are written as ISO 8601: {', '.join(each[:most])}{more}"] if each else []
