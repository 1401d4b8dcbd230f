"""How cells are written that are numbers or dates, in the training table and in the user's test alike: a column that
one of them writes otherwise is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from ..tables.amounts import amounts_in
from ..tables.cell_forms import CellForm
from ..tables.columns import called_like_id
from ..tables.missing_words import is_missing
from ..tables.pieces import Table, is_text_column


def forms_of_both(
    train: Table, theirs: Any, sample: Any, targets: list[str], request: dict[str, Any]
) -> tuple[dict[str, CellForm], dict[str, CellForm]]:
    """Columns that are read as numbers or as dates: no names of rows, no classes, and none that the test writes
    otherwise, which come second."""
    classes = set(targets) if request["task"] != "regression" else set()

    def stays(name: str) -> bool:
        return name in classes or (name not in targets and (name in sample or called_like_id(name)))

    found = train.find_forms(stays, set(targets) - classes)
    both = {name: form.also(theirs[name]) if name in theirs else form for name, form in found.items()}
    both |= _forms_of_test(train, theirs[[name for name in theirs if name in train.kinds and not stays(name)]])
    others = {name: form for name, form in both.items() if name in theirs and form.read(theirs[name]) is None}
    return {name: form for name, form in both.items() if name not in others}, others


def _forms_of_test(train: Table, theirs: Any) -> dict[str, CellForm]:
    """Columns that are numbers in the training table and in the test hold words for missing values, or marks of
    thousands."""
    texts = [name for name in theirs if len(theirs) and is_text_column(theirs[name])]
    mine = next(train.pieces(texts)) if texts else theirs
    numbers = [name for name in texts if not (is_text_column(mine[name]) or pd.api.types.is_bool_dtype(mine[name]))]
    forms = {name: amounts_in(lambda name=name: [theirs[name]], decimal=train.look.decimal or ".") for name in numbers}  # type: ignore[misc]
    return {name: form for name, form in forms.items() if form is not None and form.read(mine[name]) is not None}


def told_other(name: str, form: CellForm, theirs: Any, file: Path) -> str:
    """That a column has a form in the training table that the test does not keep to."""
    cells = theirs.dropna().unique()
    odd = next((cell for cell in cells if form.read(pd.Series([cell])) is None), "")
    return f"{name} is read as words: {file.name} writes '{odd!s:.40}', other than train.csv ({form.told()})"


def told_words(head: Any, theirs: Any, file: Path | None) -> Iterator[str]:
    """A line for each column that holds words in the test alone.

    Args:
        head: the first rows of the training table.
        theirs: the test.
        file: where it lies.
    """
    for name in (name for name in head if name in theirs and pd.api.types.is_numeric_dtype(head[name])):
        if file is not None and is_text_column(theirs[name]) and (word := _word_in(theirs[name])):
            yield f"{name} holds '{word[:40]}' in {file.name}, and no words in train.csv: write it alike"


def _word_in(values: Any) -> str:
    """The first cell that is neither a number nor missing; '' where there is none."""
    cells = pd.Series(values.dropna().unique())
    words = cells[pd.to_numeric(cells, errors="coerce").isna().to_numpy() & ~cells.map(is_missing).to_numpy(bool)]
    return str(words.iloc[0]) if len(words) else ""
