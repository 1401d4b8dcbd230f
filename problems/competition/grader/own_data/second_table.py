"""Labels that lie in a second table: which one, and which of its rows is which row of the training table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ..tables.amounts import amounts_in
from ..tables.cell_forms import CellForm, converted
from ..tables.columns import instead, listed, told_doubled
from ..tables.contents import read_any
from ..tables.counts import counted
from ..tables.exact import Unusable
from ..tables.formats import COLUMNAR, SHEETS, TEXT, look_at
from ..tables.keys import as_keys
from ..tables.pieces import Table
from .spelling import Classes, read_classes

MOST_BELOW = 20_000
"""Files in folders below among which tables are sought."""


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


def with_labels(
    table: Table, missing: list[str], request: dict[str, Any], notes: list[str]
) -> tuple[Joined, Any, dict[str, Classes], dict[str, CellForm]]:
    """The targets of all rows, joined from a second table: the one named or the only one that has them."""
    path = Path(request["labels"]) if request.get("labels") else second_table(missing, request, table.columns)
    mark = table.look.decimal or "."
    labels, _ = read_any(path, decimal=mark)
    notes.extend(told_doubled(path, list(labels), request["target"]))
    lacking = [name for name in missing if name not in labels.columns]
    if lacking:
        raise Unusable(f"data.labels={path.name}: has no column {lacking[0]}; columns are {listed(list(labels))}")
    classes = read_classes(labels, path, missing, request)
    texts = missing if request["task"] == "regression" else []
    decimal = look_at(path, mark).decimal
    forms = {name: amounts_in(lambda name=name: [labels[name]], are_numbers=True, decimal=decimal) for name in texts}  # type: ignore[misc]
    found: dict[str, CellForm] = {name: form for name, form in forms.items() if form is not None}
    labels = converted(labels, found)
    alike = {str(name).casefold() for name in labels if name not in missing}
    train = table.read([name for name in table.columns if name.casefold() in alike])
    key = shared_key(train, labels, missing)
    if key is not None:
        mine, theirs = as_keys(train[key]).to_numpy(), as_keys(labels[key]).to_numpy()
        joined = labels[missing].set_axis(theirs, axis=0).reindex(mine).reset_index(drop=True)
        said = f"joined by {key}: {int(joined.notna().all(axis=1).sum())} of {counted(len(train), 'row')}"
    elif not (why := _why_apart(train, labels, missing)):
        joined, said = labels[missing].reset_index(drop=True), "row by row, since no column names the rows of both"
    else:
        first = Path(request["train"]).name
        alone = f"; to predict the rows of {path.name} by themselves: --data.train={path.name}"
        raise Unusable(f"data.labels={path.name}: no column names its rows and those of {first}: {why}{alone}")
    notes.append(f"{listed(missing)} of {path.name} {'is' if len(missing) == 1 else 'are'} {said}")
    return Joined(path, key, missing), joined, classes, found


def second_table(missing: list[str], request: dict[str, Any], train: list[str]) -> Path:
    """The only further table that has the targets."""
    folder, name = Path(request["folder"]), Path(request["train"]).name
    found = [path for path in further_tables(request) if set(missing) <= set(columns_of(path))]
    found = [path for path in found if "test" not in path.name.lower()] if len(found) > 1 else found  # y_test.csv
    if len(found) == 1:
        return found[0]
    if len(found) > 1:
        several = ", ".join(path.name for path in found)
        raise Unusable(f"data.target={missing[0]}: in {several}; say which: --data.labels=FILE")
    hint = instead(missing[0], train, Path(request["train"]))
    told = f"data.target={missing[0]}: no such column in '{folder / name}'"
    if below := next(_tables_below(missing, request), None):
        raise Unusable(f"{told}; {below} has it: --data.train={below}")
    raise Unusable(f"{told}{hint}")


def _tables_below(missing: list[str], request: dict[str, Any]) -> Iterator[str]:
    """Tables with the targets in folders below, where the user said neither what to learn from nor what labels are."""
    folder = Path(request["folder"])
    if request.get("alone") or request.get("said_train") or request.get("labels"):
        return
    files = sorted(islice(folder.rglob("*"), MOST_BELOW))
    for path in [path for path in files if path.parent != folder and may_be_table(path, request)]:
        if set(missing) <= set(columns_of(path)):
            yield path.relative_to(folder).as_posix()


def further_tables(request: dict[str, Any]) -> list[Path]:
    """What may be tables in the user's folder, beside those of the request."""
    folder = Path(request["folder"])
    return [] if request.get("alone") else [path for path in sorted(folder.iterdir()) if may_be_table(path, request)]


def may_be_table(path: Path, request: dict[str, Any]) -> bool:
    bare = path.name.lower().removesuffix(".gz").removesuffix(".zip").removesuffix(".bz2").removesuffix(".xz")
    return path.is_file() and str(path) not in request["originals"] and bare.endswith((*TEXT, *COLUMNAR, *SHEETS))


def columns_of(path: Path) -> list[str]:
    try:
        return list(read_any(path, rows=5)[0].columns)
    except Unusable:
        return []


def shared_key(train: Any, labels: Any, targets: list[str]) -> str | None:
    """A column of both whose values name each row of the labels once, the one that finds most rows of the table."""
    best: tuple[int, str | None] = (0, None)
    for name in [n for n in labels.columns if n in train.columns and n not in targets]:
        keys = as_keys(labels[name])
        if keys.notna().all() and keys.is_unique:
            hits = int(as_keys(train[name]).isin(set(keys)).sum())
            best = max(best, (hits, name), key=lambda pair: pair[0])
    return best[1]


def _why_apart(train: Any, labels: Any, targets: list[str]) -> str:
    """Why the tables cannot be laid side by side either; '' where each row of one is that row of the other."""
    alike = [(name, other) for name in labels for other in train if name.casefold() == other.casefold()]
    for name, other in [pair for pair in alike if pair[0] not in targets]:
        mine, theirs = as_keys(labels[name]), as_keys(train[other])
        if len(mine) == len(theirs) and ((mine == theirs) | (mine.isna() & theirs.isna())).all():
            continue
        if name != other:
            return f"its {name} is called {other} there (names differ by case); rename one"
        again = mine[mine.duplicated() & mine.notna()]
        if len(again):
            twice = counted(len(again), "row")
            return f"its {name} names {twice} again, such as {str(again.iloc[0])[:40]!r}; keep one of each"
        return (
            f"its {name} is empty in {counted(int(mine.isna().sum()), 'row')}"
            if mine.isna().any()
            else f"its {name} differs"
        )
    return "" if len(labels) == len(train) else f"it has {counted(len(labels), 'row')}, and the other {len(train)}"
