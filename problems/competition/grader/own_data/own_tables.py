"""The user's own tables, whatever they are called and however they are written; labels may lie in a second one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..tables.cell_forms import CellForm, converted
from ..tables.cell_forms import told as told_forms
from ..tables.columns import MOST_NAMES, bare, same_names, targets_of, told_doubled, told_same
from ..tables.contents import read_any, read_texts
from ..tables.counts import counted
from ..tables.exact import Unusable
from ..tables.keys import as_keys, each_once
from ..tables.pieces import Table, open_table
from ..tables.progress import Tell, nobody
from ..tables.with_columns import with_columns
from .composed_ids import composed
from .forms_of_both import forms_of_both, told_other
from .new_groups import told_new_groups, told_newer
from .second_table import Joined, columns_of, may_be_table, with_labels
from .spelling import Classes, Ids, read_classes

ONE_BY_ONE = ("random", "stratified", "distinct")
"""Splits that pay no heed to groups."""
MIN_ROWS = 40


@dataclass(slots=True)
class OwnTables:
    """What the user brought."""

    train: Table
    labelled: Any
    """The targets of the rows that have all of them; the index is a row's place in `train`."""
    test: Any
    """The user's rows to predict, without targets; empty where there are none."""
    sample: Any
    """The sample submission; a table without columns where there is none."""
    targets: list[str]
    used: set[Path]
    """Files that were read: they do not go along as they are."""
    files: dict[str, Path]
    """Where `train`, `test` and `sample` lie."""
    classes: dict[str, Classes] = field(default_factory=dict)
    """Targets that are classes, as their file spells them."""
    notes: list[str] = field(default_factory=list)
    joined: Joined | None = None
    """How targets of a second table were found."""
    forms: dict[str, CellForm] = field(default_factory=dict)
    """Columns that hold amounts or dates in the user's files, and numbers or dates of one form here."""
    written: dict[str, str] = field(default_factory=dict)
    """Columns that the file of `test` writes otherwise → how."""

    @property
    def others(self) -> list[str]:
        """Columns of the training table beside the targets."""
        return [name for name in self.train.columns if name not in self.targets]

    @property
    def features(self) -> list[str]:
        """Columns to predict from, ids among them: those of the training table that the user's test has, too.

        What it lacks is not known when one predicts: rows that are scored are shown without it, or scores would tell of
        predictions that nobody can make.
        """
        theirs = set(self.test)
        return [name for name in self.others if name in theirs]

    @property
    def columns(self) -> list[str]:
        """Of the training table, with targets that lay elsewhere at its end."""
        return [*self.train.columns, *(name for name in self.targets if name not in self.train.kinds)]

    @property
    def no_rows(self) -> str:
        """That there will be no submission, where the user's test holds nothing but a header; else ''."""
        empty = "test" in self.files and not len(self.test)
        return f"{self.files['test'].name} has no rows: there will be no submission.csv" if empty else ""

    def column(self, name: str) -> Any:
        """A column of the labelled rows."""
        return self.labelled[name] if name in self.labelled else self.train.read([name])[name].loc[self.labelled.index]

    def pieces(self) -> Iterator[Any]:
        """The labelled rows with all columns in order, so many at a time; whatever `labelled` holds is as there."""
        for piece in self.train.pieces():
            if len(piece):
                known = self.labelled.loc[piece.index[0] : piece.index[-1]]
                rows = piece if len(known) == len(piece) else piece.loc[known.index]
                yield with_columns(rows, {name: known[name] for name in known})

    def ids(self, name: str, column: str) -> Ids:
        """A column of `test` or `sample` that may name rows, with its cells as they stand."""
        table = self.test if name == "test" else self.sample
        texts = read_texts(self.files[name], self.in_file(name, column)) if len(table) else pd.Series([], dtype=str)
        return Ids.of(table[column], texts)

    def in_file(self, name: str, column: str) -> str:
        """What the file of `test` or `sample` calls a column."""
        return self.written.get(column, column) if name == "test" else column


def read_own(request: dict[str, Any], say: Tell = nobody) -> OwnTables:
    """Read the tables that the request names; Unusable where they do not fit together.

    Args:
        say: is told how far a long one is read.
    """
    notes: list[str] = []
    files = {name: Path(request[name]) for name in ("train", "test", "sample") if request.get(name)}
    used = {Path(file) for file in request["originals"]}

    def tell(name: str, columns: list[str], told: str) -> None:
        path = files[name]
        notes.extend(told_doubled(path, columns, request["target"], name))
        place = Path(request["folder"])
        called = path.relative_to(place).as_posix() if path.is_relative_to(place) else path.name
        if told or (name in ("train", "test") and (path.stem.lower() != name or "/" in called)):
            programs_see = "sample_submission.csv" if name == "sample" else f"{name}.csv"
            seen = "" if called == programs_see else f" as {programs_see}"
            notes.append(f"{called} is read{seen}" + (f" ({told})" if told else ""))

    def read(name: str) -> Any:
        table, told = read_any(files[name], decimal=train.look.decimal or ".")
        tell(name, list(table.columns), told)
        return table

    train, told = open_table(files["train"], tell=say)
    tell("train", train.columns, told)
    if train.look.is_guessed:
        notes.append("where letters are wrong: --data.encoding=NAME")
    targets = targets_of(request["target"], train.columns)
    sample = read("sample") if request.get("sample") else pd.DataFrame()
    if "test" not in files and _names_the_rows(sample, train, targets, request):
        files["test"] = files["sample"]
    theirs = read("test") if "test" in files else next(train.pieces()).iloc[:0]
    if not request.get("test"):
        theirs = theirs[[name for name in theirs if name in train.columns]]
    same = same_names(theirs, dict.fromkeys([*train.columns, *targets]))
    notes += told_same(files["test"], same) if same else []
    theirs = theirs.rename(columns=same).drop(columns=targets, errors="ignore")
    forms, unlike = forms_of_both(train, theirs, sample, targets, request)
    notes += [told_other(name, form, theirs[name], files["test"]) for name, form in unlike.items()]
    train, theirs = train.with_forms(forms), converted(theirs, forms)
    missing = [name for name in targets if name not in train.columns]
    known = train.read([name for name in targets if name in train.columns])
    classes = read_classes(known, files["train"], targets, request)
    joined = None
    if missing:
        joined, values, others, more = with_labels(train, missing, request, notes)
        known = pd.concat([known, values.set_axis(known.index)], axis=1)
        used.add(joined.path)
        classes, forms = classes | others, forms | more
    if request["task"] == "regression":
        known = known.apply(_within_float)
    labelled = known[targets][known[targets].notna().all(axis=1)]
    labelled = labelled.astype("int64") if request.get("classes") else labelled
    written = {ours: theirs for theirs, ours in same.items()}
    tables = OwnTables(train, labelled, theirs, sample, targets, used, files, classes, notes, joined, forms, written)
    _check(tables, request)
    if not request.get("sample") and (found := _unnamed_sample(labelled, theirs, targets, request)):
        files["sample"], tables.sample = found, read_any(found)[0]
        used.add(found)
        notes.append(f"{found.name} is taken for the sample submission: it has the ids of test.csv")
    tables.notes += [note for found in classes.values() for note in found.notes]
    tables.notes += told_forms(forms, MOST_NAMES)
    if request.get("split") in ONE_BY_ONE:
        tables.notes += told_new_groups(train.columns, tables.column, theirs)
        tables.notes += told_newer(train.columns, tables.column, theirs)
    return tables


def _names_the_rows(sample: Any, train: Table, targets: list[str], request: dict[str, Any]) -> bool:
    """True if the sample submission is all that says which rows are to be predicted: what these are tells their name,
    as that of a picture or a sound does, or several columns together, as a series and a day do."""
    others = [name for name in train.columns if name not in targets]
    named = [name for name in others if name in sample]
    if not named or (len(others) > len(named) and _has_more_to_say(named, request)):
        return False
    known, wanted = _names_of(train.read(named), named), _names_of(sample, named)
    is_name = len(named) > 1 or len(others) == 1 or known.is_unique
    return is_name and each_once([wanted]) and not set(wanted) & set(known)


def _names_of(table: Any, columns: list[str]) -> Any:
    """Of each row one text, whatever numbers its cells are read as."""
    first, *rest = (as_keys(table[name]) for name in columns)
    return first.str.cat(rest, sep="\0", na_rep="") if rest else first


def _has_more_to_say(named: list[str], request: dict[str, Any]) -> bool:
    """True if a further table of the folder may have what the training table says of the rows to predict: any, where
    a single column names them and no files lie there; else one with all columns that name them."""
    there = [] if request.get("alone") else [path for path in Path(request["folder"]).iterdir() if path.name[0] != "."]
    tables = [path for path in there if may_be_table(path, request)]
    if len(named) > 1:
        return any({*named} <= {*columns_of(path)} for path in tables)
    return bool(tables) or not any(path.is_dir() or path.suffix == ".zip" for path in there)


def _within_float(values: Any) -> Any:
    """Whole numbers that 64 bits with a sign do not hold as floats: pandas makes objects or texts of them."""
    if pd.api.types.is_numeric_dtype(values) and values.dtype != np.uint64:
        return values
    blank = values.isna() | (values.astype(str).str.strip() == "")
    numbers = pd.to_numeric(values.where(~blank), errors="coerce").astype(float)
    return numbers if (numbers.isna() == blank).all() else values


def _check(tables: OwnTables, request: dict[str, Any]) -> None:
    targets, labelled, theirs = tables.targets, tables.labelled, tables.test
    said, name = f"data.target={','.join(targets)}", Path(request["train"]).name
    if len(labelled) < MIN_ROWS:
        read = "".join(f"; {note}" for note in tables.notes if note.startswith(f"{name} is read"))
        has = counted(len(labelled), "row has", "rows have") + (" all labels" if len(targets) > 1 else " a label")
        raise Unusable(f"{said}: {has}; at least {MIN_ROWS} are needed{labels_alone(tables)}{read}")
    if not tables.others:
        raise Unusable(f"{said}: {name} has no other column to predict it from")
    if not tables.features:
        raise Unusable(f"data.dir: test.csv shares no column with {name}; it has {', '.join(theirs)[:200]}")


def labels_alone(tables: OwnTables) -> str:
    """How many labels each of several targets has by itself, where they are in the training table."""
    known = [name for name in tables.targets if name in tables.train.kinds]
    if len(tables.targets) < 2 or not known:
        return ""
    counts = tables.train.read(known).notna().sum().to_dict()
    each = ", ".join(f"{name} has {count}" for name, count in [*counts.items()][:MOST_NAMES])
    return f" (alone {each}: take one at a time, --data.target={max(counts, key=lambda name: counts[name])})"


def _unnamed_sample(labelled: Any, theirs: Any, targets: list[str], request: dict[str, Any]) -> Path | None:
    """A table under another name with the test's ids and a column of predictions, such as `gender_submission.csv`."""
    if request.get("alone") or not len(theirs):
        return None
    aims = set(map(bare, targets))
    classes = set(as_keys(labelled[targets[0]])) if request["task"] == "probability" else set(targets)
    files = sorted(Path(request["folder"]).iterdir(), key=lambda path: ("submission" not in path.name, path.name))
    for path in [path for path in files if may_be_table(path, request)]:
        columns = set(columns_of(path))
        is_named = aims <= set(map(bare, columns)) or classes <= columns
        if (is_named or len(columns) == len(targets) + 1) and _has_ids_of(path, theirs, is_blank=not is_named):
            return path
    return None


def _has_ids_of(path: Path, theirs: Any, *, is_blank: bool) -> bool:
    """True if a column of both tables names exactly the same rows.

    Args:
        is_blank: every other column has one value in all rows, too: a form to fill in, not a table of features.
    """
    try:
        table, _ = read_any(path)
    except Unusable:
        return False
    table = table.rename(columns=same_names(table, list(theirs)))
    if len(table) != len(theirs):
        return False
    pairs = {n: (as_keys(theirs[n]), as_keys(table[n])) for n in table if n in theirs}
    names = [n for n, (mine, found) in pairs.items() if mine.is_unique and set(mine) == set(found)]
    names += [n for n in table if n not in theirs and _is_composed_of(table[n], theirs)]
    is_form = not is_blank or any((table.drop(columns=name).nunique(dropna=False) == 1).all() for name in names)
    return bool(names) and is_form


def _is_composed_of(values: Any, theirs: Any) -> bool:
    """True for ids that are put together of columns of the test: `840_2024-06-10`."""
    if pd.api.types.is_numeric_dtype(values) or values.isna().any():
        return False
    names = [name for name in theirs if not pd.api.types.is_float_dtype(theirs[name])]
    ids = values.astype(str).str.strip()
    return composed(ids, names, theirs.__getitem__, lambda name: as_keys(theirs[name]).astype(str)) is not None
