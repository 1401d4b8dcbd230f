"""When each row was: numbers that grow with time, from a column of numbers or of dates in one format."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pandas as pd

from .counts import counted
from .date_shapes import possible
from .exact import Unusable

DAY_FIRST = ("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y", "%d-%m-%y")
MONTH_FIRST = tuple(form.replace("%d", "%-").replace("%m", "%d").replace("%-", "%m") for form in DAY_FIRST)
CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p")
WORDS = (
    "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%b %d %Y", "%d %B %Y", "%B %d, %Y", "%B %d %Y", "%b %Y", "%B %Y",
    "%b-%Y", "%b-%y", "%Y%m%d",
)  # fmt: skip
ZONED = ("%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S.%f UTC")
"""As BigQuery writes times: `2009-06-15 17:26:21 UTC`. Of other zones in letters pandas raises for some."""
MONTHS = ("%m/%Y", "%m-%Y")
"""In figures, and the year last: the others are ISO8601."""


FORMS = (
    "ISO8601", *(day + clock for clock in CLOCKS for day in (*DAY_FIRST, *MONTH_FIRST, *WORDS)),
    *(f"%Y{mark}%m{mark}%d{clock}" for clock in CLOCKS for mark in "/."), *MONTHS, *ZONED,
)  # fmt: skip
_WEEK = re.compile(r"(\d{4})[- ]?W(\d{1,2})")
_QUARTER = re.compile(r"(\d{4})[- ]?Q([1-4])|Q([1-4])[-/ ]?(\d{4})")
_COUNTED = re.compile(r"(\D*[^\W\d][ _.-]?)(\d{1,15})")
_LIKE_A_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}")
LOOKED_AT = 2000
"""Rows that tell whether a column's dates are written in several ways."""
MOST = 0.9
"""Part of a column's cells that are dates where a few are words."""


def date_formats(values: Any) -> list[str]:
    """Formats in which every date of a column of text can be read; two where day and month cannot be told apart."""
    there = values.dropna().astype(str).str.strip()
    if not len(there):
        return []
    head = there.iloc[:200]
    likely = [form for form in possible(head, FORMS) if read(head, form).notna().all()]
    found = [form for form in likely if read(there, form).notna().all()]
    return found[:1] if found and found[0] == "ISO8601" else found


def format_to_tell(values: Any) -> str:
    """The format that pandas has to be told to read a column of dates, few words among them; '' where it needs none.

    Of two meanings it is day first, unless these were the first days of January in several years: `02/01/2024` is a
    month then, as `03/01/2023` is.
    """
    there = values.dropna().astype(str).str.strip()
    head = there.iloc[:LOOKED_AT]
    likely = [form for form in possible(head, FORMS, MOST) if read(head, form).notna().mean() >= MOST]
    found = date_formats(there) or _best(there, likely)
    if not found:
        return ""
    if found[0] == "ISO8601":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            untold = pd.to_datetime(there, errors="coerce", utc=True)
        return "ISO8601" if untold.notna().sum() < read(there, "ISO8601").notna().sum() else ""
    return next((form for form in found[1:] if _are_months(read(there, form))), found[0])


def two_ways(values: Any) -> tuple[str, str] | None:
    """Two cells of a column of dates that no one format reads, such as 2024-03-01 and 28.10.2024; None for others."""
    there = values.dropna().astype(str).str.strip().iloc[:LOOKED_AT]
    if not len(there) or there.str.match(_LIKE_A_DATE).mean() < MOST:
        return None
    known = [read(there, form).notna() for form in ("ISO8601", *DAY_FIRST, *MONTH_FIRST)]
    best = max(known, key=lambda found: int(found.sum()))
    if best.mean() >= MOST or np.logical_or.reduce(known).mean() < MOST:
        return None
    return str(there[best].iloc[0]), str(there[~best].iloc[0])


def _are_months(times: Any) -> bool:
    """True for the first days of months, over more than a year."""
    return bool((times.dropna().dt.day == 1).all() and times.dt.year.nunique() > 1 and times.dt.month.nunique() > 2)


def _best(there: Any, forms: list[str]) -> list[str]:
    """Those formats that read most of the dates."""
    counts = {form: int(read(there, form).notna().sum()) for form in forms}
    return [form for form, count in counts.items() if count == max(counts.values()) >= MOST * len(there)]


def read(values: Any, form: str) -> Any:
    """The dates, NaT where the text is not of that format."""
    return pd.to_datetime(values.astype("string").str.strip(), format=form, errors="coerce", utc=True)


def as_time(values: Any, whole: Any = None) -> Any:
    """Numbers that grow with time. A date that is missing, or of two meanings, cannot be ordered and is refused.

    Args:
        values: the rows to place.
        whole: the column that they are part of, which tells the format.
    """
    column = values if whole is None else whole
    said = f"data.split=time:{values.name}"
    if column.isna().any():
        raise Unusable(
            f"{said}: {counted(int(column.isna().sum()), 'row has', 'rows have')} no time, so rows cannot be ordered"
        )
    if column.nunique() < 2:
        raise Unusable(f"{said}: all rows have the same time, so they cannot be ordered")
    if pd.api.types.is_datetime64_any_dtype(column):
        return values.astype("int64").to_numpy()
    if pd.api.types.is_numeric_dtype(column):
        return values.to_numpy(float)
    if (periods := _periods(column)) is not None:
        return periods.loc[values.index].to_numpy(float)
    formats = date_formats(column)
    orders = [np.argsort(read(column, form).to_numpy(), kind="stable") for form in formats]
    if not formats:
        raise Unusable(f"{said}: the column is neither numbers nor dates of one format ({_odd_one(column)!r:.40})")
    if any((order != orders[0]).any() for order in orders[1:]):
        raise Unusable(
            f"{said}: {column.iloc[0]!s:.40} may be day first or month first, and no date of the column tells; "
            f"write the dates as 2024-12-31"
        )
    return read(values, formats[0]).astype("int64").to_numpy()


def _periods(column: Any) -> Any:
    """Weeks (`2023-W07`, ISO 8601), quarters (`2023Q1`, `Q1 2023`) or a word that is counted (`d_1`, `week 12`) as
    numbers that grow; None for other columns."""
    texts = column.astype(str).str.strip().str.upper()
    known = {text: _period(text) for text in texts.unique()}
    kinds = {found[0] for found in known.values() if found}
    if len(kinds) != 1 or not all(known.values()):
        return None
    return texts.map({text: found[1] for text, found in known.items() if found})


def _period(text: str) -> tuple[str, int] | None:
    """What it is one of, and which one: years count a hundred."""
    if week := _WEEK.fullmatch(text):
        return ("week", 100 * int(week[1]) + int(week[2])) if 1 <= int(week[2]) <= 53 else None
    if quarter := _QUARTER.fullmatch(text):
        return "quarter", 100 * int(quarter[1] or quarter[4]) + int(quarter[2] or quarter[3])
    if counted_word := _COUNTED.fullmatch(text):
        return counted_word[1], int(counted_word[2])
    return None


def newest(times: Any, wanted: int) -> int:
    """How many of the newest rows to part from the others: about so many, and rows of the same time on one side.

    So many exactly where the rows of that time are too many: more than twice as many would be parted, or more than
    half of all, or less than half as many.
    """
    border = np.sort(times)[-wanted]
    counts = [int((times >= border).sum()), int((times > border).sum())]
    fair = [count for count in counts if wanted / 2 <= count <= min(2 * wanted, max(wanted, len(times) // 2))]
    return min(fair, key=lambda count: abs(count - wanted), default=wanted)


def _odd_one(column: Any) -> str:
    """A value that the format of most others does not read."""
    text = column.astype(str)
    forms = ["ISO8601", *DAY_FIRST, *MONTH_FIRST]
    best = max(forms, key=lambda form: int(read(text, form).notna().sum()))
    return str(text[read(text, best).isna()].iloc[0])
