"""Rows to predict that only the ids of a sample submission name: `2016_1112_1114` of a season and two teams,
`air_00a9_2017-04-23` of a restaurant and a day, `10003_age` of a person and what is predicted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from ..tables.columns import bare, listed, targets_of
from ..tables.contents import read_any, read_texts
from ..tables.counts import counted
from ..tables.csv_text import write_csv
from ..tables.exact import Unusable
from ..tables.keys import as_keys
from ..tables.pieces import Table, open_table
from ..tables.times import date_formats, read
from .composed_ids import MOST_PARTS, WORD, without_words

HEAD = 5
"""Rows that tell what a table's columns are called."""
MOST_BYTES = 1 << 30
"""Of a training table that is read once more for this."""


@dataclass(frozen=True, slots=True)
class _Column:
    """What values of a column of the training table may be.

    Args:
        values: those that are there, as texts.
        later: whole numbers that may come after them, where they lack none between the least and the greatest: seasons.
        dated: the format of a column of dates.
    """

    values: frozenset[str]
    later: range = range(0)
    dated: str = ""

    def holds(self, texts: Any) -> bool:
        return bool(texts.isin(self.values).all())

    def goes_on(self, texts: Any) -> bool:
        """True for later times than those that are there."""
        if self.dated:
            return bool(read(texts, self.dated).notna().all())
        is_whole = bool(self.later) and bool(texts.str.fullmatch(r"\d{1,15}").all())
        return is_whole and bool(texts.astype("int64").between(self.later[0], self.later[-1]).all())


def with_rows_of_ids(request: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The request with a test of the rows that the sample's ids are put together of, by columns of the training table,
    where nothing else says which rows are to be predicted.

    Args:
        folder: the test is written there.
    """
    if not request.get("target") or not request.get("sample") or request.get("test"):
        return request
    try:
        found = _rows(request)
    except (Unusable, OSError):  # what is wrong with a table is told where it is read
        return request
    if found is None:
        return request
    rows, column, mark, parts = found
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(rows, folder / "test.csv")
    names = listed([part or "what is predicted" for part in parts], MOST_PARTS)
    told = (
        f"the {counted(len(rows), 'row', form=',')} to predict are read from {column} of "
        f"{Path(request['sample']).name}: {names} with '{mark}' between them"
    )
    unpacked = "; ".join(filter(None, (request.get("unpacked"), told)))
    return {**request, "test": str(folder / "test.csv"), "unpacked": unpacked}


def _rows(request: dict[str, Any]) -> tuple[Any, str, str, tuple[str, ...]] | None:
    """(the rows, the sample's column of ids, the mark in these, what stands between the marks)."""
    train, (sample, _) = Path(request["train"]), read_any(Path(request["sample"]))
    if train.stat().st_size > MOST_BYTES:
        return None
    names = [*read_any(train, rows=HEAD)[0]]
    targets = targets_of(request["target"], names)
    words, known = targets if len(targets) > 1 else [], {*map(bare, names)}
    columns: dict[str, _Column] = {}
    for column in [name for name in sample if not pd.api.types.is_numeric_dtype(sample[name])]:
        ids = read_texts(Path(request["sample"]), column).str.strip()
        if not len(ids) or not ids.is_unique or str(ids.iloc[0]).isalnum() or (bare(column) in known and not words):
            continue
        columns = columns or _columns(train, targets)
        apart = without_words(ids, words) if words else (ids, "")
        found = (
            next(_readings(apart[0].drop_duplicates(), columns, column, with_word=bool(words)), None) if apart else None
        )
        if apart and found:
            mark, cells = found
            return pd.DataFrame(cells), column, mark or apart[1], (*cells, *([WORD] if words else []))
    return None


def _columns(train: Path, targets: Sequence[str]) -> dict[str, _Column]:
    table, _ = open_table(train)
    return {name: _column(table, name) for name in table.columns if name not in targets}


def _column(table: Table, name: str) -> _Column:
    values = table.read([name])[name].dropna()
    if pd.api.types.is_float_dtype(values) and (values % 1 != 0).any():
        return _Column(frozenset())  # a measure is no part of an id
    different = pd.Series(values.unique())
    known = frozenset(as_keys(different))
    if pd.api.types.is_integer_dtype(different) and len(different):
        first, last = int(different.min()), int(different.max())
        return _Column(known, range(last + 1, last + 1 + len(different)) if last - first < len(different) else range(0))
    formats = date_formats(different)
    return _Column(known, dated=formats[0] if len(formats) == 1 else "")


def _readings(
    ids: Any, columns: Mapping[str, _Column], column: str, *, with_word: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Ways to read all ids as values of columns: the mark between these, and column → cells.

    Args:
        column: of the sample.
        with_word: they had what is predicted in them, too: then a single column may be all that is left.
    """
    if with_word and (name := next((name for name in columns if bare(name) == bare(column)), None)):
        yield "", {name: ids.to_numpy()}
    first = str(ids.iloc[0])
    for mark in dict.fromkeys(letter for letter in first if not letter.isalnum()):
        pieces = ids.str.split(mark, regex=False)
        count = len(pieces.iloc[0])
        if not (pieces.str.len() == count).all():
            continue
        texts = pd.DataFrame(pieces.tolist(), dtype=str)
        for parts in range(2, min(count, MOST_PARTS) + 1):
            for cuts in combinations(range(1, count), parts - 1):
                groups = [_joined(texts, mark, *span) for span in zip((0, *cuts), (*cuts, count), strict=True)]
                if names := _named(groups, columns):
                    yield mark, dict(zip(names, groups, strict=True))


def _joined(texts: Any, mark: str, start: int, end: int) -> Any:
    cells = texts[start]
    for place in range(start + 1, end):
        cells = cells + mark + texts[place]
    return cells


def _named(groups: Sequence[Any], columns: Mapping[str, _Column]) -> list[str]:
    """Which column each part of the ids is a value of, the first that may be; [] where one is of none. If others are
    known, a part may be new where it is a later time.
    """
    found: list[str] = []
    has_known = False
    for texts in groups:
        free = [name for name in columns if name not in found]
        there = next((name for name in free if columns[name].holds(texts)), None)
        name = there or next((name for name in free if columns[name].goes_on(texts)), None)
        if name is None:
            return []
        found.append(name)
        has_known |= there is not None
    return found if has_known else []
