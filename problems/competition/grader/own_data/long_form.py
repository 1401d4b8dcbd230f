"""A sample submission with a row for each row of the test and each thing that is predicted: `55_3_updrs_2, rating`, or
with a column that says which: `molecule, property, value`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..tables.keys import as_keys
from .own_tables import OwnTables
from .sample_form import composed_of


@dataclass(frozen=True, slots=True)
class LongForm:
    """What is handed in.

    Args:
        columns: the sample's, in its order.
        place: of the predictions among them.
        rows: (the sample's other cells, our name of the row, our column of the prediction), in the sample's order.
        told: how it was understood.
    """

    columns: list[str]
    place: int
    rows: list[tuple[list[str], str, str]]
    told: str


def long_form(tables: OwnTables, keys: Any, outputs: dict[str, str]) -> LongForm | None:
    """How the sample names rows and what is predicted, in one column or in two; None where it does not.

    Args:
        keys: our names of the test's rows, in its order.
        outputs: what is predicted, as the user calls it → our column.
    """
    sample, test = tables.sample, tables.test
    if len(outputs) < 2 or len(sample) != len(test) * len(outputs):
        return None
    found = {2: _in_one_column, 3: _in_two_columns}.get(len(sample.columns))
    return next(found(tables, keys, outputs), None) if found else None


def _in_one_column(tables: OwnTables, keys: Any, outputs: dict[str, str]) -> Iterator[LongForm]:
    columns = [*map(str, tables.sample.columns)]
    for place, column in enumerate(columns):
        ids = tables.ids("sample", column).texts.str.strip()
        if not ids.is_unique or (found := composed_of(tables, ids, list(outputs))) is None:
            continue
        ours = [(str(key), name) for name in outputs.values() for key in keys]
        at = pd.Index(found.texts).get_indexer(ids)
        rows = [([name], *ours[row]) for name, row in zip(ids, at, strict=True)]
        yield LongForm(columns, 1 - place, rows, _told(tables, f"{column} is {found.how.told('its name')}"))


def _in_two_columns(tables: OwnTables, keys: Any, outputs: dict[str, str]) -> Iterator[LongForm]:
    columns, known = [*map(str, tables.sample.columns)], {str(name): ours for name, ours in outputs.items()}
    for which in columns:
        said = tables.ids("sample", which).texts.str.strip()
        if {*said} != {*known}:
            continue
        for column in [name for name in columns if name != which and name in tables.test]:
            ids, mine = tables.ids("sample", column), pd.Index(as_keys(tables.test[column]))
            at = mine.get_indexer(ids.keys) if mine.is_unique else [-1]
            if min(at) < 0 or len({*zip(at, said, strict=True)}) < len(said):
                continue
            (value,) = {*columns} - {which, column}
            cells = {column: ids.texts.str.strip(), which: said}
            fixed = zip(*(cells[name] for name in columns if name != value), strict=True)
            named = zip(fixed, at, said, strict=True)
            rows = [([*texts], str(keys.iloc[row]), known[name]) for texts, row, name in named]
            told = _told(tables, f"{column} names the row, {which} what is predicted")
            yield LongForm(columns, columns.index(value), rows, told)


def _told(tables: OwnTables, how: str) -> str:
    return f"{tables.files['sample'].name} has a row for each row of test.csv and each prediction: {how}"
