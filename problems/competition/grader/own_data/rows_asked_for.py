"""Which table's rows are learned from, where the labels lie beside a table that has several rows for each of them.

Statements of a customer, readings of a patient: what is asked for, and what a label is of, is the customer. The table
of labels is then the one to learn from, and what has several rows each goes along as a further table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..tables.contents import read_any
from ..tables.exact import Unusable
from ..tables.keys import as_keys, each_once
from .recoded import TABLES, with_originals
from .second_table import second_table, shared_key

HEAD = 20_000
"""Rows of a table that tell whether it has several for a name."""


def by_labels(request: dict[str, Any]) -> dict[str, Any]:
    """The request with the table of labels to learn from, where the sample asks for a row for each of its names and the
    training table has several; what that is read as is told. A training table that the user names is taken as it is.

    Args:
        request: with its `originals`.
    """
    if not all(request.get(name) for name in ("target", "train", "sample")) or request.get("said_train"):
        return request
    try:
        found = _found(request)
    except (Unusable, OSError):  # what is wrong with a table is told where it is read
        return request
    if found is None:
        return request
    labels, key = found
    parts = {name: files for name, files in request.get("parts", {}).items() if name not in TABLES}
    rest = {name: value for name, value in request.items() if name not in ("test", "labels", "parts")}
    first, sample = Path(request["train"]), Path(request["sample"]).name
    told = (
        f"{labels.name} has a row for each {key}, as {sample} asks, and {first.name} several: it is what is learned "
        f"from, and {first.name} goes along (--data.train={first.name} takes each of its rows as a case)"
    )
    unpacked = "; ".join(filter(None, (request.get("unpacked"), told)))
    more = {"parts": parts} if parts else {}
    return with_originals({**rest, **more, "train": str(labels), "unpacked": unpacked})


def _found(request: dict[str, Any]) -> tuple[Path, str] | None:
    """The table of labels and the column that names its rows."""
    train, _ = read_any(Path(request["train"]), rows=HEAD)
    targets = [name.strip() for name in request["target"].split(",")]
    if {*targets} & {*train}:
        return None
    path = Path(request["labels"]) if request.get("labels") else second_table(targets, request, [*train])
    labels, sample = read_any(path)[0], read_any(Path(request["sample"]))[0]
    key = shared_key(train, labels, targets) if {*targets} <= {*labels} else None
    if key is None or key not in sample or not each_once([sample[key]]):
        return None
    return (path, key) if as_keys(train[key]).duplicated().any() else None
