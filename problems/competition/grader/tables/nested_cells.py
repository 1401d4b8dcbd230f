"""Cells that hold lists, dictionaries, arrays or bytes, as JSON and Parquet may: as text, for a CSV."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from .with_columns import with_columns


def flat(table: Any, told: str) -> tuple[Any, str]:
    """The table as a CSV can hold it, and what is told of it: lists and the like as their JSON; columns of bytes that
    are no text (pictures) are left out, since no CSV holds them.
    """
    nested = {name: _as_text(table[name]) for name in table if table[name].map(_is_nested).any()}
    binary = [str(name) for name, texts in nested.items() if texts is None]
    table = with_columns(table, {name: texts for name, texts in nested.items() if texts is not None})
    left = [f"without {', '.join(binary[:5])}, which holds bytes that are no text"] if binary else []
    return table.drop(columns=binary), ", ".join(filter(None, [told, *left]))


def _is_nested(value: Any) -> bool:
    return isinstance(value, (list, tuple, dict, set, bytes, np.ndarray))


def _as_text(values: Any) -> Any:
    """The column's values as text, None for bytes that are none."""
    try:
        return values.map(lambda value: _text_of(value) if _is_nested(value) else value)
    except UnicodeDecodeError:
        return None


def _text_of(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else json.dumps(value, default=_plain, ensure_ascii=False)


def _plain(value: Any) -> Any:
    """What JSON has no word for, as it has one: numpy's arrays and numbers, sets, bytes, times."""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if isinstance(value, (set, tuple)):
        return sorted(value, key=str)
    return value.tolist() if hasattr(value, "tolist") else str(value)
