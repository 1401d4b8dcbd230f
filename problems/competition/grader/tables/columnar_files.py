"""Tables of columns: Parquet, Feather, and Arrow's batches in a file or one after the other."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import pandas as pd

from .exact import Unusable
from .formats import FEATHER, PARQUET, STREAM, Look, opened

ROWS = 200_000
"""Of a Parquet file that are held at once where it is read in pieces."""
_NAMELESS = re.compile(r"__index_level_\d+__")
"""An index of pandas without a name."""


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


def column_names(path: Path, look: Look) -> list[str]:
    """The columns, told from the head of the file. Those without such names of Feather's first version are read."""
    with opened(path, look.packed) as file:
        names = _names(file, look)
    return [name for name in names if not _NAMELESS.fullmatch(name)] or [*map(str, read_columns(path, look).columns)]


def append_parquet(
    looks: Mapping[Path, Look], columns: list[str], more: Mapping[Path, Mapping[str, str]], to: Path
) -> int | None:
    """Write the rows of Parquet files into one, some at a time; their number, or None where they are of other forms or
    their columns not of one type.

    Args:
        columns: theirs, in order.
        more: columns that each has besides, with one value.
    """
    if not all(look.suffix in PARQUET and not look.packed for look in looks.values()):
        return None
    pyarrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    with_types = [{field.name: field.type for field in parquet.read_schema(path)} for path in looks]
    if any([found[name] for name in columns] != [with_types[0][name] for name in columns] for found in with_types):
        return None
    values = {name: [told[name] for told in more.values()] for name in more[next(iter(looks))]}
    kinds = {name: _kind_of(pyarrow, texts) for name, texts in values.items()}
    schema = pyarrow.schema([*((name, with_types[0][name]) for name in columns), *kinds.items()])
    count = 0
    with parquet.ParquetWriter(to, schema) as writer:
        for path in looks:
            for piece in parquet_pieces(path, columns):
                added = [_repeated(pyarrow, more[path][name], len(piece), kind) for name, kind in kinds.items()]
                writer.write_table(pyarrow.Table.from_arrays([*piece.columns, *added], schema=schema))
                count += len(piece)
    return count


def parquet_pieces(path: Path, columns: list[str], rows: int = ROWS) -> Iterator[Any]:
    """A Parquet file as tables of Arrow, so many rows at a time."""
    pyarrow = importlib.import_module("pyarrow")
    with path.open("rb") as file:
        for batch in _parquet(file).iter_batches(rows, columns=columns):
            yield pyarrow.Table.from_batches([batch]).select(columns)


def whole_pieces(path: Path, columns: list[str], kinds: Mapping[str, str], rows: int) -> Iterator[Any]:
    """A Parquet file as tables of pandas, so many rows at a time, each column of one type in all of them."""
    for piece in parquet_pieces(path, columns, rows):
        yield piece.to_pandas(ignore_metadata=True).astype(kinds)


def rows_of_parquet(path: Path) -> int:
    with path.open("rb") as file:
        return int(_parquet(file).metadata.num_rows)


def kinds_of(path: Path, look: Look) -> dict[str, str | None]:
    """The columns of a Parquet file that can be read in pieces, with the type that all pieces have where their own may
    differ; {} where it is packed, or holds what is not plain: lists, bytes, an index of pandas, a name twice."""
    types = importlib.import_module("pyarrow").types
    if look.packed:
        return {}
    with path.open("rb") as file:
        schema = _parquet(file).schema_arrow
    kinds: dict[str, str | None] = {}
    for field in schema:
        plain = types.is_integer(field.type) or types.is_floating(field.type) or types.is_boolean(field.type)
        dated = types.is_timestamp(field.type) and field.type.tz is None
        texts = types.is_string(field.type) or types.is_large_string(field.type)
        if not (plain or dated or texts) or field.name in kinds or _NAMELESS.fullmatch(field.name):
            return {}
        with_missing = "float64" if types.is_integer(field.type) else None
        kinds[field.name] = "boolean" if types.is_boolean(field.type) else with_missing
    without = _never_missing(path)
    return {name: None if name in without else kind for name, kind in kinds.items()}


def _never_missing(path: Path) -> set[str]:
    """Columns of which the file says that every cell has a value."""
    with path.open("rb") as file:
        about = _parquet(file).metadata
    missing: dict[str, int | None] = {}
    for group in range(about.num_row_groups):
        for place in range(about.num_columns):
            column = about.row_group(group).column(place)
            known = column.statistics.null_count if column.statistics is not None else None
            before = missing.get(column.path_in_schema, 0)
            missing[column.path_in_schema] = None if known is None or before is None else before + known
    return {name for name, count in missing.items() if count == 0}


def _kind_of(pyarrow: Any, texts: list[str]) -> Any:
    """What holds the values that folders or files are called after; '' is missing."""
    known = [text for text in texts if text]
    for read, kind in ((int, pyarrow.int64()), (float, pyarrow.float64())):
        try:
            if known and [str(read(text)) for text in known] == known:
                return kind
        except ValueError:
            continue
    return pyarrow.string()


def _repeated(pyarrow: Any, text: str, count: int, kind: Any) -> Any:
    value = pyarrow.scalar(text or None, pyarrow.string()).cast(kind)
    return pyarrow.repeat(value, count)


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
