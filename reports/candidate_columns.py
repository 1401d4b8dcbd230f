"""Candidates as a table of columns, each of one type: Parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from utils.clean_text import whole
from utils.errors import ConfigError
from utils.extras import install_line

_LARGEST = 2**63


def write_parquet(rows: list[dict[str, Any]], out: Path) -> None:
    """ConfigError where pyarrow is missing."""
    import pandas as pd

    columns = {name: of_one_kind([row[name] for row in rows]) for name in (rows[0] if rows else ())}
    try:
        table = pd.DataFrame(columns)
        table.astype({"step": "Int64"} if rows else {}).to_parquet(out, index=False)  # null for what is no step
    except ImportError as error:
        raise ConfigError(f"--format parquet needs pyarrow: {install_line('tables')}") from error


def of_one_kind(values: list[Any]) -> list[Any]:
    """A column that Parquet has a type for: as it is, else (a number here and a text there, a whole number beyond 64
    bits) all of it as texts, with the words for what is no finite number among numbers as such."""
    words = {"nan", "inf", "-inf"}
    told = {value for value in values if isinstance(value, str)}
    kinds = {float if type(value) is int else type(value) for value in values if value is not None}
    if float in kinds and told <= words:
        values, kinds = [float(value) if isinstance(value, str) else value for value in values], kinds - {str}
    large = any(type(value) is int and not -_LARGEST <= value < _LARGEST for value in values)
    if len(kinds) > 1 or large:
        values = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return [whole(value) if isinstance(value, str) else value for value in values]
