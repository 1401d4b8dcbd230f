"""Tables that lie in several files, a month each: joined into one, in the order of the files' names.

Text is copied cell by cell as it stands, so that ids and classes keep their spelling and no table is held whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..tables.columns import listed
from ..tables.contents import doubled, read_any, text_pieces
from ..tables.counts import counted
from ..tables.csv_text import write_csv
from ..tables.exact import Unusable, refusals
from ..tables.formats import COLUMNAR, Look, is_text, look_at, sure_encoding
from ..tables.pieces import ROWS

LOOKED_AT = 1000
"""Rows that tell which mark of fractions a file has."""


def with_joined(request: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The request with each table of several files as one file in `folder`, and what to tell of it.

    Raises:
        Unusable: the files have not the same columns.
    """
    notes = [request["unpacked"]] if request.get("unpacked") else []
    for name, files in request.get("parts", {}).items() if request.get("target") else ():
        folder.mkdir(parents=True, exist_ok=True)
        paths = [Path(file) for file in files]
        path, rows = _joined(paths, name, folder)
        request = {**request, name: str(path)}
        looks = dict.fromkeys(filter(None, (look_at(part).told() for part in paths)))
        more = f" ({'; '.join(looks)})" if looks else ""
        notes.append(
            f"{counted(len(paths), 'file makes', 'files make')} {name}.csv, {counted(rows, 'row', form=',')}: "
            f"{paths[0].name} … {paths[-1].name}{more}"
        )
    return {**request, "unpacked": "; ".join(notes)}


def _joined(paths: Sequence[Path], name: str, folder: Path) -> tuple[Path, int]:
    said = f"data.{name}"
    columns = _columns(paths, said)
    looks = {}
    for path in paths:
        with refusals(path):
            looks[path] = look_at(path)
    if all(map(is_text, looks.values())):
        return _texts(looks, columns, said, folder / f"{name}.csv")
    tables = {path: read_any(path)[0][columns] for path in paths}
    for column in columns:
        _refuse_mixed(column, tables, said)
    whole = pd.concat([table for table in tables.values() if len(table)] or [*tables.values()], ignore_index=True)
    if all(look.suffix in COLUMNAR for look in looks.values()):
        whole.to_parquet(folder / f"{name}.parquet")
        return folder / f"{name}.parquet", len(whole)
    write_csv(whole, folder / f"{name}.csv")
    return folder / f"{name}.csv", len(whole)


def _columns(paths: Sequence[Path], said: str) -> list[str]:
    """The columns that all files have, as the first one orders them."""
    first: list[str] = []
    for path in paths:
        if twice := [*doubled(path)]:
            raise Unusable(f"{said}: '{path.name}' has several columns called '{twice[0]}'; rename them")
        found = [str(column) for column in read_any(path, rows=5)[0]]
        first = first or found
        lacks, more = [c for c in first if c not in found], [c for c in found if c not in first]
        if lacks or more:
            parts = [f"lacks {listed(lacks)}" if lacks else "", f"has {listed(more)} besides" if more else ""]
            differs = f"'{path.name}' {' and '.join(filter(None, parts))}"
            remedy = f"files that are joined have the same columns; say which they are: --{said}='PATTERN'"
            raise Unusable(f"{said}: {differs}, other than '{paths[0].name}': {remedy}")
    return first


def _texts(looks: dict[Path, Look], columns: list[str], said: str, to: Path) -> tuple[Path, int]:
    commas = [path for path, look in looks.items() if look.decimal == ","]
    for path in [path for path in looks if path not in commas] if commas else []:
        if _has_points(path):
            raise Unusable(f"{said}: '{commas[0].name}' has decimal commas and '{path.name}' points: write them alike")
    mark, count = ";" if commas else ",", 0
    with to.open("w", encoding="utf-8", newline="") as file:
        pd.DataFrame(columns=columns).to_csv(file, sep=mark, index=False)
        for path, look in looks.items():
            with refusals(path):
                how = {"dtype": str, "keep_default_na": False}
                for piece in text_pieces(path, sure_encoding(path, look), ROWS, how):
                    piece.columns = [str(column) for column in piece.columns]
                    piece[columns].to_csv(file, sep=mark, index=False, header=False)
                    count += len(piece)
    return to, count


def _has_points(path: Path) -> bool:
    """True if some column holds fractions."""
    numbers = read_any(path, rows=LOOKED_AT)[0].select_dtypes("float").stack()
    return bool((numbers % 1 != 0).any())


def _refuse_mixed(column: str, tables: dict[Path, Any], said: str) -> None:
    """Unusable where a column is numbers in one file and something else in another."""
    kinds: dict[str, Path] = {}
    for path, table in tables.items():
        values = table[column].dropna()
        if not len(values):
            continue
        is_time, is_number = (
            test(values) for test in (pd.api.types.is_datetime64_any_dtype, pd.api.types.is_numeric_dtype)
        )
        kinds.setdefault("dates" if is_time else "numbers" if is_number else "text", path)
    if len(kinds) > 1:
        (one, first), (other, second) = list(kinds.items())[:2]
        raise Unusable(f"{said}: {column} holds {one} in '{first.name}' and {other} in '{second.name}': write it alike")
