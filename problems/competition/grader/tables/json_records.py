"""Where the rows of a JSON file stand: at its top, or below a key, as in what web services answer."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import IO, Any

import pandas as pd

DEPTH = 3
"""Keys that may stand above the rows."""
FEWEST = 2
"""Rows that make a list one of records."""


def read_records(file: IO[bytes], **how: Any) -> tuple[Any, str]:
    """The table, and below which key its rows stand: '' for one that `pandas.read_json` reads as it is.

    Args:
        how: what `pandas.read_json` is told.
    """
    content = file.read()
    key, rows = _below(content)
    text = content if rows is None else json.dumps(rows).encode()
    return pd.read_json(io.BytesIO(text), **how), key


def _below(content: bytes) -> tuple[str, list[Any] | None]:
    """The only list of records in an object, and its keys with points between them."""
    if not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return "", None
    try:
        found = list(_lists(json.loads(content), ()))
    except (ValueError, RecursionError):
        return "", None
    return (".".join(found[0][0]), found[0][1]) if len(found) == 1 else ("", None)


def _lists(value: Any, keys: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    if isinstance(value, list) and len(value) >= FEWEST and all(isinstance(row, dict) for row in value):
        yield keys, value
    elif isinstance(value, dict) and len(keys) < DEPTH:
        for key, inner in value.items():
            yield from _lists(inner, (*keys, key))
