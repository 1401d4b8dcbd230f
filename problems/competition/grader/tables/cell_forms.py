"""What a column of text is read as, where all its cells have a form: numbers, or dates of one format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .amounts import Amounts, amounts_in, is_amount
from .amounts import told as told_amounts
from .dates import Dates, dates_in, may_be_dates
from .dates import told as told_dates
from .missing_words import is_missing
from .with_columns import with_columns

CellForm = Amounts | Dates


def form_of(pieces: Callable[[], Iterable[Any]], *, is_numbers: bool = False, decimal: str = ".") -> CellForm | None:
    """The form of all cells of a column; None where there is none.

    Args:
        pieces: the column from its beginning, some rows at a time.
        is_numbers: it can hold nothing else.
        decimal: the mark of fractions in the text that it is from.
    """
    found = amounts_in(pieces, are_numbers=is_numbers, decimal=decimal)
    if found is not None or is_numbers:
        return found
    return dates_in(pieces) if may_be_dates(next(iter(pieces()))) else None


def may_have_form(values: Any) -> bool:
    """False for a column whose first cells tell that it has none: a quick look."""
    texts = [text for text in values.dropna().unique() if not is_missing(text)]
    if all(map(is_amount, texts)):
        return True
    return may_be_dates(values) and dates_in(lambda: [values], in_part=True) is not None


def converted(table: Any, forms: Mapping[str, CellForm]) -> Any:
    """The table with those of its columns as numbers and dates."""
    found = {name: form.read(table[name]) for name, form in forms.items() if name in table}
    return with_columns(table, {name: values for name, values in found.items() if values is not None})


def told(forms: Mapping[str, CellForm], most: int) -> list[str]:
    """Notes of what is read as numbers and dates."""
    return [
        *told_amounts({name: form for name, form in forms.items() if isinstance(form, Amounts)}, most),
        *told_dates({name: form for name, form in forms.items() if isinstance(form, Dates)}, most),
    ]
