"""What names the rows: a column with another value in each of the user's, or a new one where none has.

Programs and answers know the rows by it; the user's submission calls them as he does.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from .own_data.own_tables import OwnTables
from .own_data.sample_form import RowNames, names_by_sample
from .own_data.spelling import Ids
from .tables.columns import ID_NAMES, called_like_id
from .tables.keys import as_keys, each_once
from .tables.pieces import marked
from .tables.with_columns import with_columns

ROW_ID = "row_id"
LOOKED_AT = 1000
"""Cells of a column that tell whether it may name rows."""
WORDS = 4
"""On average, from which on a cell is a text."""


def with_ids(tables: OwnTables, seed: int, known_as: str | None = None) -> tuple[Any, str, RowNames]:
    """A column that names each row once: one of the user's, or a new one, which `tables.labelled` and the user's rows
    then have; and what he calls the rows of his test.

    Ids that begin anew in test.csv need a new column in front of a program; the user's rows keep theirs. New ids are
    drawn: in many tables rows stand beside others of their class. Those of hidden rows have to be drawn once more,
    since `seed` is known.

    Args:
        known_as: what programs that are there already call that column; they take any names in it.
    """
    labelled, theirs = tables.labelled, tables.test
    names = names_by_sample(tables)
    called = _id_candidates(tables, names)
    may_name = called if known_as is None else [name for name in called if name == known_as]
    kept = marked(labelled.index, tables.train.count)
    for name in may_name:
        mine = (piece[name][kept[piece.index]] for piece in tables.train.pieces([name]))
        if each_once(chain(mine, [theirs[name]] if name in theirs else [])):
            return theirs, name, names or _names_in(tables, name)
    key = known_as or ROW_ID
    while known_as is None and (key in tables.columns or key in theirs):
        key = f"swarm_{key}"  # a test table may number its rows where the training table does not
    names = names or _names_of(tables, called)
    count, theirs = len(labelled), theirs.drop(columns=[key], errors="ignore")
    tables.labelled = with_columns(labelled, {key: np.random.default_rng(seed).permutation(count)})
    theirs.insert(0, key, range(count, count + len(theirs)))
    return theirs, key, names


def begun_anew(tables: OwnTables) -> list[str]:
    """Columns of ids that name each row of the training table and each of the user's test, and some of both alike."""
    alike = [name for name in tables.features if called_like_id(name)] if len(tables.test) else []
    once = [name for name in alike if each_once([tables.test[name]]) and each_once([tables.column(name)])]
    return [name for name in once if not each_once([tables.column(name), tables.test[name]])]


def _names_of(tables: OwnTables, called: list[str]) -> RowNames:
    """What names the user's rows where no sample tells: a column called so, the first, or numbers from 0."""
    theirs = tables.test
    alike = [name for name in theirs if str(name).lower() in ID_NAMES]
    found = dict.fromkeys(c for c in (*called, *alike) if c in theirs)
    for column in dict.fromkeys([*found, *theirs.columns[:1]]):
        if _may_name(theirs[column]) and (names := _names_in(tables, column)).ids.name_rows:
            return names
    if found and len(theirs):
        column, file = next(iter(found)), tables.files["test"].name
        asked = tables.sample.get(column)
        if asked is not None and each_once([asked]) and {*as_keys(asked)} == {*as_keys(theirs[column])}:
            one = f"has several rows for each {column}, of which {tables.files['sample'].name} asks for one"
            tables.notes.append(f"{file} {one}: bring what they say into a row each")
        told = f"{column} of {file} does not name each row once: in submission.csv rows are numbered from 0"
        tables.notes.append(told)
    return RowNames.numbered(len(theirs))


def _may_name(values: Any) -> bool:
    """False for measures, and for sentences and rows of pixels: nobody calls a row by these."""
    if pd.api.types.is_numeric_dtype(values):
        return not pd.api.types.is_float_dtype(values)
    return bool(values.dropna().astype(str).head(LOOKED_AT).str.split().str.len().mean() < WORDS)


def _names_in(tables: OwnTables, column: str) -> RowNames:
    """The names that a column of `test.csv` gives; none where there is no such table."""
    ids = tables.ids("test", column) if column in tables.test else Ids.of(pd.Series([]), pd.Series([], dtype=str))
    called = tables.in_file("test", column)
    return RowNames(ids, called, "test", called)


def _id_candidates(tables: OwnTables, names: RowNames | None) -> list[str]:
    """Columns that may name rows: the one that the user's sample submission tells, then those called like an id."""
    theirs = tables.test
    named = [str(n) for n in tables.columns if called_like_id(str(n))]
    ours = {theirs: name for name, theirs in tables.written.items()}
    return [
        n for n in (*([ours.get(names.source, names.source)] if names else map(str, tables.sample.columns[:1])), *named)
        if n in tables.train.kinds and n not in tables.targets and (n in theirs.columns or not len(theirs))
    ]  # fmt: skip
