"""The form of the user's sample submission: its id column, its ids, and which of its columns are the predictions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pandas as pd

from . import validate

ID_NAMES = ("id", "index", "row_id", "uid", "uuid", "key")
SHOWN = 5
"""Columns that a line names."""


@dataclass(frozen=True, slots=True)
class RowNames:
    """What the user calls the rows of `test.csv`.

    Args:
        values: the ids, in the rows' order.
        column: as the submission calls them.
        table: where they stand: `test`, `sample` (row by row), or '' for numbers from 0.
        source: their column there.
    """

    values: Any
    column: str
    table: str
    source: str


@dataclass(frozen=True, slots=True)
class SampleForm:
    """What a submission looks like to its user.

    Args:
        columns: (the user's name, ours) of each column, in order.
        told: what of that a user may not expect, a line each.
        wrong: why it is not in the sample's form; '' where it is, or where there is no sample.
    """

    columns: list[tuple[str, str]]
    told: list[str]
    wrong: str = ""


def id_column(sample: Any, test: Any, targets: list[str]) -> str | None:
    """The sample's id column: one that `test.csv` has too, else its first that is no target."""
    names = [str(name) for name in sample.columns]
    known, aims = {_folded(name) for name in test.columns}, {_folded(name) for name in targets}
    rest = [name for name in names if _folded(name) not in aims]
    shared = [name for name in names if name in test.columns] or [name for name in rest if _folded(name) in known]
    return next(iter((*shared, *rest)), None)


def names_by_sample(sample: Any, test: Any, targets: list[str]) -> RowNames | None:
    """What the sample calls the test's rows; None where it does not tell, or where there is nothing to call."""
    column = id_column(sample, test, targets)
    if column is None or not len(test):
        return None
    named = {str(name): validate.as_keys(test[name]) for name in test.columns}
    ids = validate.as_keys(sample[column])
    alike = [column, *(name for name in named if _folded(name) == _folded(column))]
    known = [name for name in alike if name in named and _names_rows(named[name])]
    wholes = [name for name in named if not pd.api.types.is_float_dtype(test[name]) and _names_rows(named[name])]
    same = [name for name in wholes if set(named[name]) == set(ids)]
    among = [name for name in wholes if _folded(name) in ID_NAMES and set(ids) <= set(named[name])]
    for name in (*known, *same, *among):
        return RowNames(named[name], column, "test", name)
    if len(sample) == len(test) and _names_rows(ids):
        return RowNames(ids, column, "sample", column)
    return None


def form_of(sample: Any, file: str, names: RowNames, outputs: list[str], key: str, features: list[str]) -> SampleForm:
    """The columns of a submission, as the sample calls and orders them where they can be matched.

    Args:
        sample: the table; without columns where there is none.
        file: its name, for the lines.
        outputs: our columns of predictions: targets, or a class each.
        key: our id column.
        features: columns to predict from: none of them is a prediction under another name.
    """
    plain = [(names.column, key), *((name, name) for name in outputs)]
    have = [str(name) for name in sample.columns]
    if not have:
        return SampleForm(plain, [])
    rest = [name for name in have if name != names.column]
    matched = _matched(rest, outputs) if len(rest) < len(have) else None
    if matched is None or any(name in features and name != ours for name, ours in matched.items()):
        wrong = f"its columns are {_listed([name for name, _ in plain])}; those of {file} are {_listed(have)}"
        return SampleForm(plain, [f"submission.csv will not be in the form of {file}: {wrong}"], wrong)
    ours = {**matched, names.column: key}
    told = [*_of_ids(file, names), *_of_columns([(name, matched[name]) for name in rest], file)]
    return SampleForm([(name, ours[name]) for name in have], told)


def other_ids(sample: Any, file: str, names: RowNames) -> str:
    """How the sample's ids differ from those of `test.csv`; '' where they do not."""
    if names.column not in sample:
        return ""
    mine, theirs = pd.Series(names.values), validate.as_keys(sample[names.column])
    lacking, foreign = mine[~mine.isin(set(theirs))], theirs[~theirs.isin(set(mine))]
    parts = [f"lacks {len(lacking)} ids of test.csv, such as {lacking.iloc[0]}"] if len(lacking) else []
    parts += [f"has {len(foreign)} ids that test.csv lacks, such as {foreign.iloc[0]}"] if len(foreign) else []
    return f"{file} {' and '.join(parts)}; submission.csv holds the {len(mine)} rows of test.csv" if parts else ""


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
    folded = {_folded(name): name for name in rest}
    mine = {_folded(name): name for name in outputs}
    if len(folded) < len(rest) or len(mine) < len(outputs):
        return None
    longest = max(mine, key=len)
    for one in (found for name in folded for found in re.finditer(re.escape(longest), name)):
        before, after = one.string[: one.start()], one.string[one.end() :]
        found = {folded[whole]: mine[name] for name in mine if (whole := f"{before}{name}{after}") in folded}
        if len(found) == len(rest):
            return found
    return None


def _of_ids(file: str, names: RowNames) -> list[str]:
    if names.table == "sample":
        return [f"{names.column} of {file} names the rows of test.csv in their order"]
    if names.table == "test" and names.source != names.column:
        return [f"{names.column} of {file} is {names.source} of test.csv"]
    return []


def _of_columns(matched: list[tuple[str, str]], file: str) -> list[str]:
    other = [(name, ours) for name, ours in matched if name != ours]
    if not other:
        return []
    pairs = ", ".join(f"{name} is {ours}" for name, ours in other[:SHOWN])
    return [f"in {file} {pairs}" + (f" and {len(other) - SHOWN} more" if len(other) > SHOWN else "")]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _folded(name: Any) -> str:
    """Names that differ by case and signs only are one name."""
    return re.sub(r"[\W_]+", " ", str(name).casefold()).strip()
