"""Rows to predict that stand in the training table, without a label: one table of all shots, and a sample that names
those that nobody has told the outcome of.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..tables.columns import same_names, targets_of
from ..tables.contents import read_any, read_texts, text_pieces
from ..tables.counts import counted
from ..tables.csv_text import write_csv
from ..tables.exact import Unusable
from ..tables.formats import is_text, look_at, sure_encoding
from ..tables.keys import as_keys
from ..tables.pieces import ROWS, Table, is_text_column, open_table
from .composed_ids import without_words
from .second_table import second_table, shared_key

HEAD = 5
"""Rows that tell what a table's columns are called."""


def with_unlabelled_rows(request: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The request with a test of those rows of the training table that have no label, where there is no table of rows
    to predict and the sample names some of them and nothing else; `unlabelled` is how many, `blank` that these are all
    whose targets are empty in that table.

    Args:
        folder: the test is written there.
    """
    if not request.get("target") or not request.get("sample") or request.get("test"):
        return request
    try:
        wanted, targets = _wanted(request)
    except (Unusable, OSError):  # what is wrong with a table is told where it is read
        return request
    if wanted is None:
        return request
    train, sample = Path(request["train"]), Path(request["sample"]).name
    folder.mkdir(parents=True, exist_ok=True)
    _write(train, wanted, targets, folder / "test.csv")
    without = counted(int(wanted.sum()), "row", form=",")
    told = f"the {without} of {train.name} without a label that {sample} names are read as test.csv"
    unpacked = "; ".join(filter(None, (request.get("unpacked"), told)))
    blank = _empty(open_table(train)[0], targets)
    told_more = {"unlabelled": int(wanted.sum()), "blank": blank is not None and bool((blank == wanted).all())}
    return {**request, "test": str(folder / "test.csv"), "unpacked": unpacked, **told_more}


def _wanted(request: dict[str, Any]) -> tuple[Any, list[str]]:
    """A mask of the training table's rows, None where the sample names others, too; and the targets."""
    (head, _), (sample, _) = read_any(Path(request["train"]), rows=HEAD), read_any(Path(request["sample"]))
    targets = targets_of(request["target"], [*head])
    sample = sample.rename(columns=same_names(sample, [*head]))
    named = [name for name in sample if name in head and name not in targets]
    if not named:
        return None, targets
    table, _ = open_table(Path(request["train"]))
    blank = _without_label(table, targets, request)
    if blank is None or not blank.any():
        return None, targets
    for name in named:
        ids, asked = as_keys(table.read([name])[name]), as_keys(sample[name])
        known, names = {*ids[blank]} - {None}, _of_rows(asked, targets)
        if len(known) and ids[blank].is_unique and {*names} <= known:
            return blank & ids.isin({*names}).to_numpy(), targets
    return None, targets


def _of_rows(asked: Any, targets: list[str]) -> list[str]:
    """The ids of a sample, without what is predicted where it has a row for each target."""
    texts = asked.astype(str)
    found = without_words(texts, targets) if len(targets) > 1 else None
    return [*(found[0] if found else texts)]


def _without_label(table: Table, targets: list[str], request: dict[str, Any]) -> Any:
    """A mask of the rows that have none of the targets; None where the table has some targets and not others."""
    if {*targets} & {*table.columns}:
        return _empty(table, targets)
    path = Path(request["labels"]) if request.get("labels") else second_table(targets, request, table.columns)
    labels, _ = read_any(path)
    shared = [name for name in labels if name in table.columns]
    train = table.read(shared)
    key = shared_key(train, labels, targets) if {*targets} <= {*labels} else None
    if key is None:
        return None
    labelled = labels[labels[targets].notna().any(axis=1)]
    return ~as_keys(train[key]).isin({*as_keys(labelled[key])}).to_numpy()


def _empty(table: Table, targets: list[str]) -> Any:
    """A mask of the rows whose targets are all empty; None where the table lacks some."""
    if not {*targets} <= {*table.columns}:
        return None
    return np.logical_and.reduce([_blank(table, name) for name in targets])


def _blank(table: Table, name: str) -> Any:
    """Cells that are empty; words such as `NA` are classes, among numbers they are missing."""
    values = table.read([name])[name]
    return (read_texts(table.path, name) == "").to_numpy() if is_text_column(values) else values.isna().to_numpy()


def _write(train: Path, wanted: Any, targets: list[str], to: Path) -> None:
    """Write those rows as they stand in the file."""
    look = look_at(train)
    if not is_text(look):
        write_csv(read_any(train)[0][wanted].drop(columns=targets, errors="ignore"), to)
        return
    mark, start = ";" if look.decimal == "," else ",", 0
    with to.open("w", encoding="utf-8", newline="") as file:
        how = {"dtype": str, "keep_default_na": False}
        for piece in text_pieces(train, sure_encoding(train, look), ROWS, how):
            piece.columns = [str(column) for column in piece.columns]
            rows = piece[wanted[start : start + len(piece)]].drop(columns=targets, errors="ignore")
            rows.to_csv(file, sep=mark, index=False, header=start == 0)
            start += len(piece)
