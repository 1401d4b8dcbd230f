"""The form of the user's sample submission: its id column, its ids, and which of its columns are the predictions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..tables.columns import ID_NAMES
from ..tables.counts import counted
from ..tables.keys import as_keys
from .composed_ids import Composed, Composition, composed
from .ranked_cells import RankedCells
from .spelling import Ids

if TYPE_CHECKING:
    from .own_tables import OwnTables

SHOWN = 5
"""Columns that a line names."""
OTHER, KEPT, RANKED = "other", "kept", "ranked"


@dataclass(frozen=True, slots=True)
class RowNames:
    """What the user calls the rows of `test.csv`.

    Args:
        ids: in the rows' order.
        column: as the submission calls them.
        table: where they stand: `test`, `sample` (row by row), or '' for numbers from 0.
        source: their column there.
        sample: the sample's ids, where it has some.
        together: the sample's columns that say, none of them alone, that its rows are the test's in their order.
        composed: of which columns of the test the sample's ids are put together.
    """

    ids: Ids
    column: str
    table: str
    source: str
    sample: Ids | None = None
    together: tuple[str, ...] = ()
    composed: Composition | None = None

    @classmethod
    def numbered(cls, count: int, together: tuple[str, ...] = ()) -> RowNames:
        """Rows that no column names: numbers from 0."""
        numbers = pd.Series(range(count))
        return cls(Ids.of(numbers, numbers.astype(str)), "row", "", "row", together=together)

    @property
    def places(self) -> Any:
        """The rows in the order in which they are handed in: the sample's, where that holds the same ids."""
        found = self.ids.places_of(self.sample) if self.sample else None
        return range(len(self.ids.texts)) if found is None else found

    @property
    def is_sample_of_same(self) -> bool:
        """True if the sample names exactly these rows."""
        return self.sample is not None and self.ids.places_of(self.sample) is not None

    @property
    def texts(self) -> Any:
        """The ids as they are handed in, in the order of `places`."""
        return self.sample.texts if self.sample and self.is_sample_of_same else self.ids.texts


@dataclass(frozen=True, slots=True)
class Outputs:
    """What a program predicts.

    Args:
        columns: as the user calls them → ours: targets, or a class each.
        pair: the two classes, where one column holds the probability of the second.
        ranked: how a single column names the best classes of a row, where it may.
    """

    columns: dict[str, str]
    pair: tuple[str, ...] = ()
    ranked: RankedCells | None = None

    def matched(self, rest: list[str]) -> dict[str, tuple[str, str]] | None:
        """The sample's columns → (ours, how), where each is one of these."""
        if found := _matched(rest, list(self.columns)):
            return {name: (self.columns[word], "") for name, word in found.items()}
        if self.ranked and len(rest) == 1:
            return {rest[0]: ("", RANKED)}
        found = _matched(rest, list(self.pair)) if self.pair else None
        (ours,) = self.columns.values() if self.pair else ("",)
        return {name: (ours, OTHER if word == self.pair[0] else "") for name, word in found.items()} if found else None


@dataclass(frozen=True, slots=True)
class SampleForm:
    """What a submission looks like to its user.

    Args:
        columns: (the user's name, ours, how) of each column, in order. How: '' as it is predicted, OTHER for the
            probability of the other class, RANKED for the names of the best classes, KEPT for the sample's own values.
        told: what of that a user may not expect, a line each.
        wrong: why it is not in the sample's form; '' where it is, or where there is no sample.
    """

    columns: list[tuple[str, str, str]]
    told: list[str]
    wrong: str = ""

    @property
    def kept(self) -> list[str]:
        """Columns that are handed in as they stand in the sample."""
        return [name for name, _, how in self.columns if how == KEPT]


def id_column(sample: Any, test: Any, targets: list[str]) -> str | None:
    """The sample's id column: one that `test.csv` has too, else its first that is no target."""
    names = [str(name) for name in sample.columns]
    known, aims = {_folded(name) for name in test.columns}, {_folded(name) for name in targets}
    rest = [name for name in names if _folded(name) not in aims]
    shared = [name for name in names if name in test.columns] or [name for name in rest if _folded(name) in known]
    return next(iter((*shared, *rest)), None)


def names_by_sample(tables: OwnTables) -> RowNames | None:
    """What the sample calls the test's rows; None where it does not tell, or where there is nothing to call."""
    sample, test = tables.sample, tables.test
    column = id_column(sample, test, tables.targets)
    if column is None or not len(test):
        return None
    ids = tables.ids("sample", column)
    named = {str(name): as_keys(test[name]) for name in test.columns}
    alike = [column, *(name for name in named if _folded(name) == _folded(column))]
    known = [name for name in dict.fromkeys(alike) if name in named and tables.ids("test", name).name_rows]
    wholes = [name for name in named if not pd.api.types.is_float_dtype(test[name]) and _names_rows(named[name])]
    same = [name for name in wholes if set(named[name]) == set(ids.keys)]
    among = [name for name in wholes if _folded(name) in ID_NAMES and set(ids.keys) <= set(named[name])]
    for name in (*known, *same, *among):
        return RowNames(tables.ids("test", name), column, "test", tables.in_file("test", name), ids)
    if len(sample) == len(test) and ids.name_rows:
        if found := composed_of(tables, ids.texts):
            return RowNames(Ids.of(found.texts, found.texts), column, "test", "", ids, composed=found.how)
        return RowNames(ids, column, "sample", column, ids)
    together = _alike_row_by_row(tables)
    return RowNames.numbered(len(test), together) if together else None


def composed_of(tables: OwnTables, ids: Any, words: Sequence[str] = ()) -> Composed | None:
    """How the sample's ids are put together of the test's columns, and of `words` where it has a row for each of them.

    A measure is no part of an id.
    """
    test = tables.test
    names = [str(name) for name in test.columns if not pd.api.types.is_float_dtype(test[name])]
    return composed(ids, names, test.__getitem__, lambda name: tables.ids("test", name).texts, words)


def _alike_row_by_row(tables: OwnTables) -> tuple[str, ...]:
    """Columns of sample and test that are no targets, where all of them hold the same in the same rows; else ().

    A patient and the number of the visit: several rows have either.
    """
    sample, test = tables.sample, tables.test
    aims = {_folded(name) for name in tables.targets}
    shared = [str(name) for name in sample.columns if name in test.columns and _folded(name) not in aims]
    if len(sample) != len(test):
        return ()
    pairs = [(tables.ids("sample", name).keys, tables.ids("test", name).keys) for name in shared]
    return tuple(shared) if all(mine.equals(theirs) for mine, theirs in pairs) else ()


def form_of(sample: Any, file: str, names: RowNames, outputs: Outputs, key: str, features: list[str]) -> SampleForm:
    """The columns of a submission, as the sample calls and orders them where they can be matched.

    A column of the sample that is neither ids nor predictions (`Usage`) is handed in as it stands there.

    Args:
        sample: the table; without columns where there is none.
        file: its name, for the lines.
        key: our id column.
        features: columns to predict from: none of them is a prediction under another name.
    """
    plain = [(names.column, key, ""), *((name, ours, "") for name, ours in outputs.columns.items())]
    have = [str(name) for name in sample.columns]
    if not have:
        return SampleForm(plain, [])
    rest = [name for name in have if name != names.column and name not in names.together]
    in_order = len(rest) == len(have) and len(sample) == len(names.ids.texts)
    same_rows = in_order or bool(names.together) or names.is_sample_of_same
    matched = _matched_in(rest, sample, outputs, same_rows)
    if in_order and matched is not None and len(matched) == len(rest):
        told = [f"{file} has no ids: its rows are those of test.csv in their order"]
    elif len(rest) == len(have) or matched is None:
        matched, told = None, []
    else:
        told = _of_ids(file, names)
    if matched is None or any(name in features and name != ours for name, (ours, _) in matched.items()):
        wrong = f"its columns are {_listed([name for name, *_ in plain])}; those of {file} are {_listed(have)}"
        return SampleForm(plain, [f"submission.csv will not be in the form of {file}: {wrong}"], wrong)
    ours = {name: (name, KEPT) for name in have} | matched | {names.column: (key, "")}
    columns = [(name, *ours[name]) for name in have]
    return SampleForm(columns, [*told, *_of_columns(columns, plain, file, names.together, outputs.ranked)])


def _matched_in(rest: list[str], sample: Any, outputs: Outputs, same_rows: bool) -> dict[str, tuple[str, str]] | None:
    """Which of the sample's columns are predictions: all, those that are called so, those that are no words, or those
    of the classes that training has, where the sample asks for more.
    """
    if (found := outputs.matched(rest)) or not same_rows:
        return found
    called = {_folded(name) for name in (*outputs.columns, *outputs.pair)}
    by_name = [name for name in rest if _folded(name) in called]
    numbers = [name for name in rest if pd.api.types.is_numeric_dtype(sample[name])]
    classes = list(_around(rest, list(outputs.columns))) if len(outputs.columns) > 1 else []
    return outputs.matched(by_name) or outputs.matched(numbers) or outputs.matched(classes)


def other_ids(file: str, names: RowNames) -> str:
    """How the sample's ids differ from those of `test.csv`; '' where they do not."""
    if names.sample is None or names.is_sample_of_same:
        return ""
    mine, theirs = names.ids.keys, names.sample.keys
    lacking, foreign = mine[~mine.isin(set(theirs))], theirs[~theirs.isin(set(mine))]
    parts = [f"lacks {counted(len(lacking), 'id')} of test.csv, such as {lacking.iloc[0]}"] if len(lacking) else []
    parts += (
        [f"has {counted(len(foreign), 'id')} that test.csv lacks, such as {foreign.iloc[0]}"] if len(foreign) else []
    )
    return (
        f"{file} {' and '.join(parts)}; submission.csv holds the {counted(len(mine), 'row')} of test.csv"
        if parts
        else ""
    )


def _names_rows(keys: Any) -> bool:
    return bool(len(keys) and keys.notna().all() and keys.is_unique)


def _matched(rest: list[str], outputs: list[str]) -> dict[str, str] | None:
    """The sample's columns → ours: by name, by name without case, by what classes have around them, or the only one."""
    if set(rest) == set(outputs):
        return {name: name for name in rest}
    if len(rest) != len(outputs):
        return None
    if len(rest) == 1:
        return {rest[0]: outputs[0]}
    found = _around(rest, outputs)
    return found if len(found) == len(rest) else None


def _around(rest: list[str], outputs: list[str]) -> dict[str, str]:
    """Those of the sample's columns → ours that have the same around ours, all of these: `Status_low`; {} for none."""
    folded = {_folded(name): name for name in rest}
    mine = {_folded(name): name for name in outputs}
    if len(folded) < len(rest) or len(mine) < len(outputs):
        return {}
    longest = max(mine, key=len)
    for one in (found for name in folded for found in re.finditer(re.escape(longest), name)):
        before, after = one.string[: one.start()], one.string[one.end() :]
        found = {folded[whole]: mine[name] for name in mine if (whole := f"{before}{name}{after}") in folded}
        if len(found) == len(mine):
            return found
    return {}


def _of_ids(file: str, names: RowNames) -> list[str]:
    if names.together:
        return [f"the rows of {file} are those of test.csv in their order, as {_listed([*names.together])} say"]
    if names.composed:
        return [f"{names.column} of {file} is {names.composed.told(names.column)}"]
    if names.table == "sample":
        return [f"{names.column} of {file} names the rows of test.csv in their order"]
    if names.table == "test" and names.source != names.column:
        return [f"{names.column} of {file} is {names.source} of test.csv"]
    return []


def _of_columns(
    columns: list[tuple[str, str, str]],
    plain: list[tuple[str, str, str]],
    file: str,
    together: tuple[str, ...],
    ranked: RankedCells | None,
) -> list[str]:
    words = {"": "{ours}", OTHER: "1 - {ours}", KEPT: "kept as it stands there", RANKED: str(ranked)}
    unlike = [column for column in columns if column not in plain and column[0] not in together]
    other = [(name, words[how].format(ours=ours)) for name, ours, how in unlike]
    if not other:
        return []
    pairs = ", ".join(f"{name} is {what}" for name, what in other[:SHOWN])
    return [f"in {file} {pairs}" + (f" and {len(other) - SHOWN} more" if len(other) > SHOWN else "")]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _folded(name: Any) -> str:
    """Names that differ by case and signs only are one name."""
    return re.sub(r"[\W_]+", " ", str(name).casefold()).strip()
