"""A sample submission with a row for each row of the test and each thing that is predicted: `55_3_updrs_2, rating`, or
with a column that says which: `molecule, property, value`; or with numbers that a further table explains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ..tables.contents import read_any
from ..tables.keys import as_keys
from .own_tables import OwnTables
from .sample_form import composed_of
from .second_table import columns_of


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


def long_form(tables: OwnTables, keys: Any, outputs: dict[str, str], beside: Sequence[Path]) -> LongForm | None:
    """How the sample names rows and what is predicted: in one column, in two, or in a further table; None where it does
    not.

    Args:
        keys: our names of the test's rows, in its order.
        outputs: what is predicted, as the user calls it → our column.
        beside: further tables.
    """
    sample, test = tables.sample, tables.test
    if len(outputs) < 2:
        return None
    whole = {2: _in_one_column, 3: _in_two_columns}.get(len(sample.columns))
    if whole and len(sample) == len(test) * len(outputs):
        return next(whole(tables, keys, outputs), None)
    told = (found for path in beside for found in _in_further_table(tables, keys, outputs, path))
    return next(told, None) if len(sample.columns) == 2 else None


def _in_one_column(tables: OwnTables, keys: Any, outputs: dict[str, str]) -> Iterator[LongForm]:
    columns = [*map(str, tables.sample.columns)]
    for place, column in enumerate(columns):
        ids = tables.ids("sample", column).texts.str.strip()
        if not ids.is_unique or (found := composed_of(tables, ids, list(outputs))) is None:
            continue
        ours = [(str(key), name) for name in outputs.values() for key in keys]
        at = pd.Index(found.texts).get_indexer(ids)
        rows = [([name], *ours[row]) for name, row in zip(ids, at, strict=True)]
        yield LongForm(columns, 1 - place, rows, _told(tables, f"{column} is {found.how.told('what is predicted')}"))


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


def _in_further_table(tables: OwnTables, keys: Any, outputs: dict[str, str], path: Path) -> Iterator[LongForm]:
    """Where a table has the sample's ids, with the row and the name of what is predicted for each."""
    columns, known = [*map(str, tables.sample.columns)], {str(name): ours for name, ours in outputs.items()}
    names = columns_of(path)
    for column in [name for name in columns if name in names and len(names) > len(columns)]:
        table, ids = read_any(path)[0], tables.ids("sample", column)
        asked = pd.Index(as_keys(table[column]))
        at = asked.get_indexer(ids.keys) if asked.is_unique else [-1]
        whiches = [name for name in table if name != column and {*table[name].dropna().astype(str)} <= {*known}]
        for which, of in [(which, of) for which in whiches for of in names if of in tables.test and of != column]:
            mine, said = pd.Index(as_keys(tables.test[of])), table[which].astype(str)
            rows = mine.get_indexer(as_keys(table[of])) if mine.is_unique else [-1]
            if min(at) < 0 or min(rows) < 0 or not said.isin(known).all():
                continue
            cells = ids.texts.str.strip()
            found = [
                ([name], str(keys.iloc[rows[row]]), known[said.iloc[row]]) for name, row in zip(cells, at, strict=True)
            ]
            told = f"{path.name} says of which {of} and {which} each {column} of {tables.files['sample'].name} is"
            yield LongForm(columns, 1 - columns.index(column), found, told)


def _told(tables: OwnTables, how: str) -> str:
    return f"{tables.files['sample'].name} has a row for each row of test.csv and each prediction: {how}"
