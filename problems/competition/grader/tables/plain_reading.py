"""How programs of `rules` read a further table: by pandas alone, told of separators and encodings, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from .columnar_files import columns_twice, kinds_of, whole_pieces
from .formats import LINED_JSON, PARQUET, TEXT, is_json, is_text, look_at
from .nested_cells import has_nested
from .text_look import BLANKS

PACKED = {"gzip": ".gz", "zip": ".zip", "bz2": ".bz2", "xz": ".xz"}
"""What packed files are called at their end, by which pandas knows them."""
PIECE = 200_000
How = dict[str, Any]
"""What `pandas.read_csv` is told beside the path; `{"parquet": True}` where `pandas.read_parquet` reads it, `{"json":
True, "lines": …}` where `pandas.read_json` does."""
MOST_JSON = 1 << 26
"""Bytes of a JSON file, which is read whole."""


def how_read(path: Path) -> How | None:
    """None for a table that pandas alone does not read rightly."""
    look = look_at(path)
    if look.suffix in PARQUET and not look.packed:
        return {"parquet": True} if not columns_twice(path, look) else None
    if is_json(look) and not look.packed and path.stat().st_size <= MOST_JSON:
        how_json: How = {"json": True, "lines": look.suffix in LINED_JSON}
        return how_json if _is_flat(path, how_json) else None
    plain = look.errors == "strict" and not (look.above or look.quoted or look.beyond) and look.mark != BLANKS
    if not is_text(look) or look.suffix not in TEXT or not plain:
        return None
    how: How = {} if look.mark == "," else {"sep": look.sep}
    how |= {} if look.encoding in ("utf-8", "utf-8-sig") else {"encoding": look.encoding}
    how |= {} if look.decimal == "." else {"decimal": look.decimal}
    infers = path.suffix if path.suffix in PACKED.values() else ""
    return how | ({} if PACKED.get(look.packed, "") == infers else {"compression": look.packed or None})


def pieces_of(path: Path, how: How, columns: list[str] | None = None) -> Iterator[Any]:
    """The rows in order, so many at a time."""
    if "parquet" in how and (plain := kinds_of(path, look_at(path))):
        wanted = [*plain] if columns is None else columns
        yield from whole_pieces(path, wanted, {name: kind for name in wanted if (kind := plain[name])}, PIECE)
        return
    if "parquet" in how or "json" in how:
        whole = pd.read_parquet(path, columns=columns) if "parquet" in how else _json(path, how)
        whole = whole if columns is None else whole[columns]
        yield from (whole.iloc[start : start + PIECE] for start in range(0, max(len(whole), 1), PIECE))
        return
    with pd.read_csv(path, usecols=columns, chunksize=PIECE, low_memory=False, **how) as pieces:
        yield from pieces


def _json(path: Path, how: How) -> Any:
    return pd.read_json(path, lines=how["lines"], dtype=False, precise_float=True)


def _is_flat(path: Path, how: How) -> bool:
    """True if it is a table to pandas: rows of cells that hold one value each."""
    try:
        table = _json(path, how)
    except (ValueError, TypeError, AttributeError):  # JSON of any other form
        return False
    return len(table) > 1 and not has_nested(table)


def rows_of(path: Path, how: How, columns: list[str]) -> Any:
    """These columns of all rows."""
    return pd.concat([*pieces_of(path, how, columns)], ignore_index=True)


def names_of(path: Path) -> list[str]:
    """Its columns; [] where it is not read."""
    how = how_read(path)
    if how is None:
        return []
    head = next(pieces_of(path, how)) if how.keys() & {"parquet", "json"} else pd.read_csv(path, nrows=0, **how)
    return [str(name) for name in head]
