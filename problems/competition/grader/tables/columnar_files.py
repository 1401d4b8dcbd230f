"""Tables of columns: Parquet, Feather, and Arrow's batches in a file or one after the other."""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path
from typing import IO, Any

import pandas as pd

from .exact import Unusable
from .formats import FEATHER, STREAM, Look, opened


def read_columns(path: Path, look: Look) -> Any:
    """The table; columns of one name are numbered as pandas numbers those of a CSV. What pandas wrote as an index that
    has a name is a column.

    Raises:
        ImportError: pyarrow is not installed.
        Unusable: an index has a column's name.
    """
    pyarrow = importlib.import_module("pyarrow")
    twice = columns_twice(path, look)
    with opened(path, look.packed) as file:
        if look.suffix == STREAM:
            table = pyarrow.ipc.open_stream(file).read_all().to_pandas()
        elif look.suffix in FEATHER:
            table = pd.read_feather(file)
        else:  # pandas reads no two columns of one name
            table = _parquet(file).read().to_pandas() if twice else pd.read_parquet(file)
    if any(name is not None for name in table.index.names):
        if both := [str(name) for name in table.index.names if name in table.columns]:
            told = f"an index of pandas and a column that are both called '{both[0]}'"
            raise Unusable(f"data: '{path}' has {told}: save it after reset_index(drop=True), or rename one")
        table = table.reset_index()
    seen = Counter[str]()
    return table.set_axis([_numbered(name, seen) if name in twice else name for name in table.columns], axis=1)


def columns_twice(path: Path, look: Look) -> dict[str, int]:
    """Names that several columns have, and how many."""
    with opened(path, look.packed) as file:
        counts = Counter(_names(file, look))
    return {name: count for name, count in counts.items() if count > 1}


def _names(file: IO[bytes], look: Look) -> list[str]:
    pyarrow = importlib.import_module("pyarrow")
    if look.suffix not in (STREAM, *FEATHER):
        return list(_parquet(file).schema_arrow.names)
    try:
        way = pyarrow.ipc.open_stream if look.suffix == STREAM else pyarrow.ipc.open_file
        return list(way(file).schema.names)
    except pyarrow.ArrowInvalid:  # the first version of Feather has no such names
        return []


def _parquet(file: IO[bytes]) -> Any:
    return importlib.import_module("pyarrow.parquet").ParquetFile(file)


def _numbered(name: str, seen: Counter[str]) -> str:
    seen[name] += 1
    return name if seen[name] == 1 else f"{name}.{seen[name] - 1}"
