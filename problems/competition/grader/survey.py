"""What lies in the public folder of somebody else's competition: which table has the labels, and what a submission's
columns hold. Told to whoever writes programs, since every competition calls and shapes them otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

TRAIN, TEST = "train.csv", "test.csv"
MOST_TABLES = 12
"""Tables at the top of a folder that are looked into for labels."""


@dataclass(frozen=True, slots=True)
class Survey:
    """Where the labels are.

    Args:
        labelled: the table with the labels; None where no table has them.
        label: its column whose classes are the submission's columns, one probability a class; None without such.
        targets: its columns that are the submission's too.
        test: the table that names the rows to predict: `test.csv`, else the sample submission.
    """

    labelled: Path | None
    label: str | None
    targets: tuple[str, ...]
    test: Path | None

    @property
    def is_plain(self) -> bool:
        """True if there are two tables, to learn from and to predict."""
        return self.labelled is not None and self.test is not None and self.test.name == TEST

    def told(self) -> Iterator[str]:
        """Where the labels are, in a line, where that is not `train.csv` with the submission's own columns."""
        name = self.labelled.name if self.labelled else ""
        if self.label is not None:
            yield f"labels: column {self.label} of input/{name}, whose classes are the submission's columns"
        elif self.targets and name != TRAIN:
            more = f" and {len(self.targets) - 5} more" if len(self.targets) > 5 else ""
            yield f"labels: column{'s' * (len(self.targets) > 1)} {', '.join(self.targets[:5])}{more} of input/{name}"


def survey(public: Path, sample: Path, targets: list[str]) -> Survey:
    """Look for the labels: in `train.csv`, else in the other tables at the top of the folder.

    Args:
        sample: the sample submission.
        targets: its columns behind the ids.
    """
    test = public / TEST if (public / TEST).is_file() else sample if _is_csv(sample) else None
    tables = [path for path in sorted(public.glob("*.csv")) if path not in (test, sample) and not is_sample(path)]
    if (public / TRAIN) in tables:
        tables = [public / TRAIN]
    unlabelled = _columns(test) if test is not None and test.name == TEST else []
    for path in tables[:MOST_TABLES]:
        have = [name for name in _columns(path) if name not in unlabelled]
        if shared := tuple(name for name in targets if name in have):
            return Survey(path, None, shared, test)
        if len(targets) > 1 and (label := _label(path, have, targets)):
            return Survey(path, label, (), test)
    return Survey(public / TRAIN if tables == [public / TRAIN] else None, None, (), test)


def form_of_columns(sample: Any, targets: list[str]) -> dict[str, str]:
    """What the sample submission holds in each column: `whole` numbers, `fractions` or `words`."""
    return {name: _form(sample[name]) for name in targets if name in sample}


def _form(values: Any) -> str:
    if pd.api.types.is_bool_dtype(values) or not pd.api.types.is_numeric_dtype(values):
        return "words"
    return "whole" if pd.api.types.is_integer_dtype(values) else "fractions"


def _label(path: Path, names: list[str], targets: list[str]) -> str | None:
    """The column whose classes are the submission's columns."""
    wanted = set(targets)
    for name in names:
        if set(pd.read_csv(path, usecols=[name], low_memory=False)[name].dropna().astype(str)) == wanted:
            return name
    return None


def _columns(path: Path) -> list[str]:
    try:
        return [str(name) for name in pd.read_csv(path, nrows=0).columns]
    except (ValueError, OSError):  # no table, whatever its name
        return []


def _is_csv(path: Path) -> bool:
    return path.suffix == ".csv" and path.is_file()


def is_sample(path: Path) -> bool:
    return path.stem.lower().replace("_", "").startswith("samplesub")
