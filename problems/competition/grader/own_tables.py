"""The user's own tables, whatever they are called and however they are written; labels may lie in a second one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from . import validate
from .formats import COLUMNAR, SHEETS, TEXT, doubled, line_of_head, read_any, read_texts
from .pieces import Table, open_table
from .spelling import Classes, Ids, classes_of
from .tables import Unusable
from .targets import task_of

MIN_ROWS = 40
MOST_NAMES = 5
"""Columns that a note lists."""
MOST_LETTERS = 60
"""Of a column's name in a list."""


@dataclass(frozen=True, slots=True)
class Joined:
    """How the targets of a second table were found.

    Args:
        path: of the table.
        key: the column that names the rows of both; None where they stand row by row.
        columns: the targets.
    """

    path: Path
    key: str | None
    columns: list[str]


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

    @property
    def features(self) -> list[str]:
        """Columns to predict from, ids among them."""
        return [name for name in self.train.columns if name not in self.targets]

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
                yield piece.loc[known.index].assign(**{name: known[name] for name in known})

    def ids(self, name: str, column: str) -> Ids:
        """A column of `test` or `sample` that may name rows, with its cells as they stand."""
        table = self.test if name == "test" else self.sample
        texts = read_texts(self.files[name], column) if len(table) else pd.Series([], dtype=str)
        return Ids.of(table[column], texts)


def read_own(request: dict[str, Any]) -> OwnTables:
    """Read the tables that the request names; Unusable where they do not fit together."""
    notes: list[str] = []
    files = {name: Path(request[name]) for name in ("train", "test", "sample") if request.get(name)}
    used = {*files.values(), *([Path(request["labels"])] if request.get("labels") else [])}

    def tell(name: str, columns: list[str], told: str) -> None:
        path = files[name]
        notes.extend(_of_doubled(path, columns, request["target"], name))
        if told or (name in ("train", "test") and path.stem.lower() != name):
            notes.append(f"{path.name} is read as {name}.csv" + (f" ({told})" if told else ""))

    def read(name: str) -> Any:
        table, told = read_any(files[name])
        tell(name, list(table.columns), told)
        return table

    train, told = open_table(files["train"])
    tell("train", train.columns, told)
    targets = _targets(request["target"], train.columns)
    missing = [name for name in targets if name not in train.columns]
    known = train.read([name for name in targets if name in train.columns])
    classes = _read_classes(known, files["train"], targets, request)
    joined = None
    if missing:
        joined, values, others = _with_labels(train, missing, request, notes)
        known = pd.concat([known, values.set_axis(known.index)], axis=1)
        used.add(joined.path)
        classes |= others
    labelled = known[targets][known[targets].notna().all(axis=1)]
    theirs = read("test") if request.get("test") else next(train.pieces()).iloc[:0]
    theirs = theirs.drop(columns=targets, errors="ignore")
    sample = read("sample") if request.get("sample") else pd.DataFrame()
    tables = OwnTables(train, labelled, theirs, sample, targets, used, files, classes, notes, joined)
    _check(tables, request)
    if not request.get("sample") and (found := _unnamed_sample(labelled, theirs, targets, request)):
        files["sample"], tables.sample = found, read_any(found)[0]
        used.add(found)
        notes.append(f"{found.name} is taken for the sample submission: it has the ids of test.csv")
    tables.notes += [note for found in classes.values() for note in found.notes]
    tables.notes += _surprises(tables, bool(request.get("sorted")))
    return tables


def _read_classes(table: Any, path: Path, targets: list[str], request: dict[str, Any]) -> dict[str, Classes]:
    """The targets of this table that are classes; they take the place of what pandas has read."""
    task = request["task"]
    aimed = [name for name in targets if name in table and task != "regression"]
    found = {name: classes_of(table[name], read_texts(path, name)) for name in aimed
             if task != "own" or task_of(table[name]) == "labels"}  # fmt: skip
    for name, classes in found.items():
        table[name] = classes.values
    return found


def _of_doubled(path: Path, table: list[str], given: str, name: str = "labels") -> Iterator[str]:
    """What columns of one name are called here. Unusable where it is the target's: either may be meant."""
    for column, count in doubled(path).items():
        named = [other for other in table if other == column or re.fullmatch(rf"{re.escape(column)}\.\d+", other)]
        if name in ("train", "labels") and column in _targets(given, table):
            raise Unusable(f"data.target={given}: {path.name} has {count} columns called '{column}'; rename one")
        yield f"{path.name} has {count} columns called '{column}': they are {_listed(named)}"


def _targets(given: str, columns: list[str]) -> list[str]:
    """One target, or several with commas between them."""
    if given in columns or "," not in given:
        return [given]
    return list(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))


def _check(tables: OwnTables, request: dict[str, Any]) -> None:
    targets, labelled, theirs = tables.targets, tables.labelled, tables.test
    said, name = f"data.target={','.join(targets)}", Path(request["train"]).name
    if len(labelled) < MIN_ROWS:
        raise Unusable(f"{said}: {len(labelled)} rows have a label; at least {MIN_ROWS} are needed")
    if not tables.features:
        raise Unusable(f"{said}: {name} has no other column to predict it from")
    if len(theirs) and not set(theirs) & set(tables.columns):
        raise Unusable(f"data.dir: test.csv shares no column with {name}; it has {', '.join(theirs)[:200]}")


def _with_labels(
    table: Table, missing: list[str], request: dict[str, Any], notes: list[str]
) -> tuple[Joined, Any, dict[str, Classes]]:
    """The targets of all rows, joined from a second table: the one named or the only one that has them."""
    path = Path(request["labels"]) if request.get("labels") else _second_table(missing, request, table.columns)
    labels, _ = read_any(path)
    notes.extend(_of_doubled(path, list(labels), request["target"]))
    lacking = [name for name in missing if name not in labels.columns]
    if lacking:
        raise Unusable(f"data.labels={path.name}: has no column {lacking[0]}; columns are {_listed(list(labels))}")
    classes = _read_classes(labels, path, missing, request)
    alike = {str(name).casefold() for name in labels if name not in missing}
    train = table.read([name for name in table.columns if name.casefold() in alike])
    key = _shared_key(train, labels, missing)
    if key is not None:
        mine, theirs = validate.as_keys(train[key]).to_numpy(), validate.as_keys(labels[key]).to_numpy()
        joined = labels[missing].set_axis(theirs, axis=0).reindex(mine).reset_index(drop=True)
        said = f"joined by {key}: {int(joined.notna().all(axis=1).sum())} of {len(train)} rows"
    elif not (why := _why_apart(train, labels, missing)):
        joined, said = labels[missing].reset_index(drop=True), "row by row, since no column names the rows of both"
    else:
        first = Path(request["train"]).name
        raise Unusable(f"data.labels={path.name}: no column names its rows and those of {first}: {why}")
    notes.append(f"{', '.join(missing)} of {path.name} is {said}")
    return Joined(path, key, missing), joined, classes


def _second_table(missing: list[str], request: dict[str, Any], train: list[str]) -> Path:
    """The only further table that has the targets."""
    folder, name = Path(request["folder"]), Path(request["train"]).name
    others = [] if request.get("alone") else [path for path in sorted(folder.iterdir()) if _may_be_table(path, request)]
    found = [path for path in others if set(missing) <= set(_columns(path))]
    found = [path for path in found if "test" not in path.name.lower()] if len(found) > 1 else found  # y_test.csv
    if len(found) == 1:
        return found[0]
    if len(found) > 1:
        several = ", ".join(path.name for path in found)
        raise Unusable(f"data.target={missing[0]}: in {several}; say which: --data.labels=FILE")
    instead = _instead(missing[0], train, Path(request["train"]))
    raise Unusable(f"data.target={missing[0]}: no such column in '{folder / name}'{instead}")


def _instead(target: str, columns: list[str], path: Path) -> str:
    """What may be meant by a target that no column is called: one that differs by case or blanks, a later head."""
    if alike := next((name for name in columns if _bare(name) == _bare(target)), None):
        blanks = alike != " ".join(alike.split())
        return f"; did you mean {repr(alike) if blanks else alike}?{' (blanks count)' if blanks else ''}"
    at = line_of_head(path, target)
    if at > 1:
        return f"; line {at} seems to be the head of the table: delete what stands above it"
    return f"; columns are {_listed(columns, 10)}"


def _bare(name: str) -> str:
    return " ".join(name.split()).casefold()


def _unnamed_sample(labelled: Any, theirs: Any, targets: list[str], request: dict[str, Any]) -> Path | None:
    """A table under another name with the test's ids and a column of predictions, such as `gender_submission.csv`."""
    if request.get("alone") or not len(theirs):
        return None
    classes = set(validate.as_keys(labelled[targets[0]])) if request["task"] == "probability" else set(targets)
    files = sorted(Path(request["folder"]).iterdir(), key=lambda path: ("submission" not in path.name, path.name))
    for path in [path for path in files if _may_be_table(path, request) and str(path) != request.get("labels")]:
        columns = set(_columns(path))
        if (set(targets) <= columns or classes <= columns) and _has_ids_of(path, theirs):
            return path
    return None


def _has_ids_of(path: Path, theirs: Any) -> bool:
    """True if a column of both tables names exactly the same rows."""
    try:
        table, _ = read_any(path)
    except Unusable:
        return False
    pairs = [(validate.as_keys(theirs[n]), validate.as_keys(table[n])) for n in table if n in theirs]
    return len(table) == len(theirs) and any(mine.is_unique and set(mine) == set(found) for mine, found in pairs)


def _may_be_table(path: Path, request: dict[str, Any]) -> bool:
    taken = {request.get(name) for name in ("train", "test", "sample")}
    bare = path.name.lower().removesuffix(".gz").removesuffix(".zip").removesuffix(".bz2").removesuffix(".xz")
    return path.is_file() and str(path) not in taken and bare.endswith((*TEXT, *COLUMNAR, *SHEETS))


def _columns(path: Path) -> list[str]:
    try:
        return list(read_any(path, rows=5)[0].columns)
    except Unusable:
        return []


def _shared_key(train: Any, labels: Any, targets: list[str]) -> str | None:
    """A column of both whose values name each row of the labels once, the one that finds most rows of the table."""
    best: tuple[int, str | None] = (0, None)
    for name in [n for n in labels.columns if n in train.columns and n not in targets]:
        keys = validate.as_keys(labels[name])
        if keys.notna().all() and keys.is_unique:
            hits = int(validate.as_keys(train[name]).isin(set(keys)).sum())
            best = max(best, (hits, name), key=lambda pair: pair[0])
    return best[1]


def _why_apart(train: Any, labels: Any, targets: list[str]) -> str:
    """Why the tables cannot be laid side by side either; '' where each row of one is that row of the other."""
    alike = [(name, other) for name in labels for other in train if name.casefold() == other.casefold()]
    for name, other in [pair for pair in alike if pair[0] not in targets]:
        mine, theirs = validate.as_keys(labels[name]), validate.as_keys(train[other])
        if len(mine) == len(theirs) and ((mine == theirs) | (mine.isna() & theirs.isna())).all():
            continue
        if name != other:
            return f"its {name} is called {other} there (names differ by case); rename one"
        again = mine[mine.duplicated() & mine.notna()]
        if len(again):
            return f"its {name} names {len(again)} rows again, such as {str(again.iloc[0])[:40]!r}; keep one of each"
        return f"its {name} is empty in {int(mine.isna().sum())} rows" if mine.isna().any() else f"its {name} differs"
    return "" if len(labels) == len(train) else f"it has {len(labels)} rows, and the other {len(train)}"


def _surprises(tables: OwnTables, made: bool) -> Iterator[str]:
    """What is not as the user may think, and what then holds.

    Args:
        made: the tables are ours, made of his files: nothing is told of their columns.
    """
    labelled, theirs, targets = tables.labelled, tables.test, tables.targets
    if len(targets) > 1:
        yield f"{len(targets)} targets: a program predicts all of them, and its score is the mean over them"
    if len(labelled) < tables.train.count:
        yield f"{tables.train.count - len(labelled)} rows without {' or '.join(targets)} are left out"
    if tables.no_rows:
        yield tables.no_rows
    if len(theirs) and not made:
        missing = [name for name in tables.features if name not in theirs]
        new = [str(name) for name in theirs if name not in tables.columns]
        if missing:
            yield f"test.csv has no column {_listed(missing)}: empty in its rows"
        if new:
            yield f"train.csv has no column {_listed(new)}: left out of test.csv"


def _listed(names: list[str], most: int = MOST_NAMES) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(str(name)[:MOST_LETTERS] for name in names[:most]) + more
