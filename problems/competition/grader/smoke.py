"""The small part of the training rows that a program is tried on before it runs on all of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .tables.csv_text import write_csv
from .tables.pieces import open_plain

SMOKE_STEP = 50
"""A smoke run sees 2 % of the training rows …"""
SMOKE_ROWS = 10_000
"""… of data sets with at least so many: below, the whole run is as quick."""
OF_A_CLASS = 5
"""Rows of each class, where there are so many: of fewer, a fold may have none."""
MOST_CLASSES = 100
"""Values of a target that are still taken for classes."""


def write_smoke(public: Path, smoke: Path, rows: int, targets: Sequence[str] = ()) -> None:
    """The same files with every fiftieth training row, where that leaves enough rows to try a program on.

    Rows are added until a program that reads the part meets what it would meet in all rows: each column is read as the
    same kind (a column of numbers but for a few words is words), and each class is there.
    """
    if rows < SMOKE_ROWS or not (public / "train.csv").is_file():
        return
    _share(str(public), str(smoke))
    (smoke / "train.csv").unlink()
    table = open_plain(public / "train.csv")
    kinds, classes = _Kinds(), {name: _Classes() for name in targets if name in table.columns}
    for piece in table.pieces():
        chosen = piece.index.to_numpy() % SMOKE_STEP == 0
        for name, seen in classes.items():
            seen.add(piece[name], chosen)
        kinds.add(piece, chosen)
        write_csv(piece[chosen], smoke / "train.csv", more=True)


class _Kinds:
    """Adds the first row that shows what kind a column is, unless a chosen one does."""

    def __init__(self) -> None:
        self._shown: set[str] = set()

    def add(self, piece: Any, chosen: Any) -> None:
        for name in piece.columns:
            if name in self._shown:
                continue
            values = piece[name]
            if not _telling(values[chosen]).any():
                telling = _telling(values)
                if not telling.any():
                    continue
                chosen[telling.argmax()] = True
            self._shown.add(name)


def _telling(values: Any) -> Any:
    """Which cells tell the kind of their column: of text those that are no number, else those that are not missing."""
    there = values.notna().to_numpy()
    if pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
        return there
    return there & pd.to_numeric(values, errors="coerce").isna().to_numpy()


class _Classes:
    """Adds the first rows of each class of a target."""

    def __init__(self) -> None:
        self._before: dict[Any, int] = {}

    def add(self, values: Any, chosen: Any) -> None:
        counts = values.value_counts()
        if len(self._before.keys() | set(counts.index)) > MOST_CLASSES:
            return
        place = values.groupby(values).cumcount() + values.map(self._before).fillna(0)
        np.logical_or(chosen, (place < OF_A_CLASS).to_numpy() & values.notna().to_numpy(), out=chosen)
        for value, count in counts.items():
            self._before[value] = self._before.get(value, 0) + int(count)


def _share(folder: str, target: str) -> None:
    """The same files under two names where the disk can: nobody writes to either."""
    os.mkdir(target)
    with os.scandir(folder) as entries:
        for entry in entries:
            to = f"{target}/{entry.name}"
            if entry.is_dir():
                _share(entry.path, to)
                continue
            try:
                os.link(entry.path, to)
            except OSError:
                shutil.copyfile(entry.path, to)
