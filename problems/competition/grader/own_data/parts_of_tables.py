"""Tables that lie in several files, a month each: joined into one, in the order of the files' names.

Text is copied cell by cell as it stands, so that ids and classes keep their spelling and no table is held whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas as pd

from ..tables.columnar_files import append_parquet
from ..tables.columns import listed
from ..tables.contents import read_any, text_pieces
from ..tables.counts import counted
from ..tables.csv_text import write_csv
from ..tables.exact import Unusable, refusals
from ..tables.formats import COLUMNAR, Look, is_text, look_at, sure_encoding
from ..tables.pieces import ROWS
from .columns_of_parts import ColumnsOfParts, columns_of_parts

PARTITION = re.compile(r"([^=]+)=([^=]*)")
"""A folder that is called after a column and the value that all rows in it have (Hive)."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
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
        told = partitions(paths, Path(request["folder"]))
        needed = [one.strip() for one in request["target"].split(",")]
        path, rows, odd = join_files(paths, name, folder, told, needed)
        request = {**request, name: str(path)}
        looks = dict.fromkeys(filter(None, (look_at(part).told() for part in paths)))
        more = f" ({'; '.join(looks)})" if looks else ""
        notes.append(
            f"{counted(len(paths), 'file makes', 'files make')} {name}.csv, {counted(rows, 'row', form=',')}: "
            f"{paths[0].name} … {paths[-1].name}{more}"
            + (f", with {listed([*told[paths[0]]])} by their folders" if told[paths[0]] else "")
        )
        notes += odd
    return {**request, "unpacked": "; ".join(notes)}


def partitions(paths: Sequence[Path], folder: Path) -> dict[Path, dict[str, str]]:
    """Of each file the columns that its folders tell, `year=2022/store=3/part-0.csv`: name → value.

    Args:
        folder: the user's, whose own name and what is above it tell nothing.
    """
    found = {}
    for path in paths:
        places = path.relative_to(folder).parts[:-1] if path.is_relative_to(folder) else ()
        pairs = [pair.groups() for place in places if (pair := PARTITION.fullmatch(place))]
        found[path] = {name: "" if value == NO_VALUE else unquote(value) for name, value in pairs}
    return found


def join_files(
    paths: Sequence[Path], name: str, folder: Path, told: Mapping[Path, Mapping[str, str]], needed: Sequence[str] = ()
) -> tuple[Path, int, list[str]]:
    """(the table, its rows, what differs between the files); columns that folders tell and files lack stand last.

    Args:
        needed: columns that no file may lack.
    """
    said = f"data.{name}"
    columns = columns_of_parts(paths, said, needed)
    notes = [*columns.told()]
    more = {path: {key: value for key, value in told[path].items() if key not in columns.names} for path in paths}
    if odd := next((path for path in paths if [*more[path]] != [*more[paths[0]]]), None):
        raise Unusable(f"{said}: '{odd}' lies in folders of other names than '{paths[0]}'")
    looks = {}
    for path in paths:
        with refusals(path):
            looks[path] = look_at(path)
    if all(map(is_text, looks.values())):
        return *_texts(looks, columns, said, folder / f"{name}.csv", more), notes
    if columns.are_same:
        rows = append_parquet(looks, columns.names, more, folder / f"{name}.parquet")
        if rows is not None:
            return folder / f"{name}.parquet", rows, notes
    tables = {path: columns.of(path, read_any(path)[0], None).assign(**more[path]) for path in paths}
    for column in columns.names:
        _refuse_mixed(column, tables, said)
    whole = pd.concat([table for table in tables.values() if len(table)] or [*tables.values()], ignore_index=True)
    for column in more[paths[0]]:
        numbers = pd.to_numeric(whole[column], errors="coerce")
        whole[column] = numbers if (numbers.notna() == (whole[column] != "")).all() else whole[column]
    if all(look.suffix in COLUMNAR for look in looks.values()):
        whole.to_parquet(folder / f"{name}.parquet")
        return folder / f"{name}.parquet", len(whole), notes
    write_csv(whole, folder / f"{name}.csv")
    return folder / f"{name}.csv", len(whole), notes


def _texts(
    looks: dict[Path, Look], columns: ColumnsOfParts, said: str, to: Path, more: Mapping[Path, Mapping[str, str]]
) -> tuple[Path, int]:
    commas = [path for path, look in looks.items() if look.decimal == ","]
    for path in [path for path in looks if path not in commas] if commas else []:
        if _has_points(path):
            raise Unusable(f"{said}: '{commas[0].name}' has decimal commas and '{path.name}' points: write them alike")
    mark, count = ";" if commas else ",", 0
    with to.open("w", encoding="utf-8", newline="") as file:
        pd.DataFrame(columns=[*columns.names, *more[next(iter(looks))]]).to_csv(file, sep=mark, index=False)
        for path, look in looks.items():
            with refusals(path):
                how = {"dtype": str, "keep_default_na": False}
                for piece in text_pieces(path, sure_encoding(path, look), ROWS, how):
                    piece.columns = [str(column) for column in piece.columns]
                    columns.of(path, piece, "").assign(**more[path]).to_csv(file, sep=mark, index=False, header=False)
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
