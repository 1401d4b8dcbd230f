"""Cells that hold lists, dictionaries, arrays, bytes or times of day, as JSON, Parquet and spreadsheets may: as text,
for a CSV."""

from __future__ import annotations

import datetime
import json
from typing import Any

import numpy as np
import pandas as pd


def flat(table: Any, told: str) -> tuple[Any, str]:
    """The table as a CSV can hold it, and what is told of it: lists and the like as their JSON, durations and times of
    day as they are written; columns of bytes that are no text (pictures) are left out, since no CSV holds them.
    """
    texts = {name: _as_text(table[name]) for name in _nested(table)}
    binary = [str(name) for name, values in texts.items() if values is None]
    table = table.copy(deep=False)
    for name, values in texts.items():
        if values is not None:
            table[name] = values
    left = [f"without {', '.join(binary[:5])}, which holds bytes that are no text"] if binary else []
    return table.drop(columns=binary), ", ".join(filter(None, [told, *left]))


def has_nested(table: Any) -> bool:
    """True if `flat` changes it."""
    return bool(_nested(table))


def _nested(table: Any) -> list[Any]:
    return [name for name in table if pd.api.types.is_timedelta64_dtype(table[name].dtype)
            or (table[name].dtype == object and table[name].map(_is_nested).any())]  # fmt: skip


def _is_nested(value: Any) -> bool:
    return isinstance(value, (list, tuple, dict, set, bytes, np.ndarray, datetime.time, datetime.timedelta))


def _as_text(values: Any) -> Any:
    """The column's values as text, None for bytes that are none."""
    try:
        return values.astype(object).map(lambda value: _text_of(value) if _is_nested(value) else value)
    except UnicodeDecodeError:
        return None


def _text_of(value: Any) -> str:
    if isinstance(value, (datetime.time, datetime.timedelta)):
        return str(value)
    return value.decode("utf-8") if isinstance(value, bytes) else json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """What JSON has no word for, as it has one: numpy's arrays and numbers, sets, bytes, times."""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, (set, tuple)):
        return sorted(value, key=str)
    return value.tolist() if hasattr(value, "tolist") else str(value)
