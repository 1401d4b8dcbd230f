"""How the user's tables are read with pandas alone: for programs that leave this machine."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from ..tables.amounts import SCALES, Amounts
from ..tables.contents import read_any
from ..tables.counts import counted
from ..tables.dates import Dates
from ..tables.exact import Unusable, first_line
from ..tables.formats import (
    COLUMNAR,
    DATABASES,
    LINED_JSON,
    PARQUET,
    SHEETS,
    Look,
    is_json,
    is_text,
    kind_of,
    look_at,
    sure_encoding,
)
from ..tables.nested_cells import has_nested
from ..tables.sheets import way_of_sheet
from ..tables.text_look import CSV_WAYS, NOTHING
from .own_tables import read_own
from .recoded import TABLES, recoded, with_originals
from .rows_asked_for import by_labels
from .rows_of_files import with_rows_of_files
from .rows_of_ids import with_rows_of_ids
from .rows_without_label import with_unlabelled_rows

LOOKED_AT = 1000
"""Rows of a text table that are compared with what the notebook reads."""
_SAID = "export-best --notebook:"
_NAMED = {".gz": "gzip", ".zip": "zip", ".bz2": "bz2", ".xz": "xz"}
"""What pandas takes a file for by its name."""


def ways(request: dict[str, Any]) -> dict[str, Any]:
    """`{tables: {train: {file, function, how, texts}, …}, flat, targets, joined, amounts, dates, written, blank}`.

    `texts` is how a table is read with its cells as they stand; `flat` says that cells hold lists and the like;
    `joined` is None, or the `key` (None: row by row) and the `columns` of the targets that lie in the table `labels`;
    `amounts` is column → its mark of fractions ('' for numbers as pandas reads them), cells that hold none, and units
    that count; `dates` is column → its shapes' formats, whether they have hours, cells that hold none; `written` is
    column → what the test calls it, where that differs; `blank` says that the rows to predict are those of the training
    table that have no label.

    Raises:
        Unusable: pandas by itself reads a table otherwise than it was read here.
    """
    for name, files in request.get("parts", {}).items():
        raise Unusable(
            f"export-best --notebook: data.{name} is {counted(len(files), 'file')}, and the notebook reads one; "
            "join them"
        )
    with TemporaryDirectory() as folder:
        asked = by_labels(with_originals(request))
        if with_rows_of_files(asked, Path(folder) / "test") is not asked:
            raise Unusable(
                f"{_SAID} the rows to predict are files alone, and the notebook reads their names in a table"
            )
        request = recoded(asked, Path(folder))
        request = with_unlabelled_rows(request, Path(folder) / "test")
        is_made = with_rows_of_ids(request, Path(folder) / "test") is not request
        if is_made or request.get("blank") is False:
            raise Unusable(f"{_SAID} the notebook reads the rows to predict in a table: save them as test.csv")
        found, said = read_own(request), request.get("encoding")
        mine = {Path(request[name]): Path(asked[name]) for name in TABLES if asked.get(name)}
        files = dict(found.files)
        joined = None
        if found.joined is not None:
            files["labels"] = found.joined.path
            joined = {"key": found.joined.key, "columns": found.joined.columns}
        tables, is_flat = dict[str, dict[str, Any]](), False
        for name, path in files.items():
            if name == "test" and request.get("blank"):
                tables[name] = tables["train"]
                continue
            file = mine.get(path, path)
            tables[name] = _way(path, file, said if file != path else None, found.train.look.decimal)
            if tables[name]["function"] == "json_table":  # it is ours, and does not flatten
                is_flat = True
                continue
            theirs, ours = _both(path, file, tables[name])
            may_be_longer = name == "train" and not joined  # rows without a target are left out
            if list(map(str, theirs)) != list(ours) or (len(theirs) != len(ours) and not may_be_longer):
                raise Unusable(f"{_SAID} pandas by itself reads '{file.name}' otherwise than here: save it as CSV")
            is_flat |= has_nested(theirs)
    amounts = {
        name: [form.fraction, form.missing, SCALES if form.scales else {}]
        for name, form in found.forms.items()
        if isinstance(form, Amounts)
    }
    dates = {
        name: [form.formats, form.clock, form.missing]
        for name, form in found.forms.items() if isinstance(form, Dates)
    }  # fmt: skip
    return {
        "tables": tables, "flat": is_flat, "targets": found.targets, "joined": joined, "amounts": amounts,
        "dates": dates, "written": found.written, "blank": bool(request.get("blank")),
    }  # fmt: skip


def _way(path: Path, file: Path, said: str | None, decimal: str) -> dict[str, Any]:
    """How pandas reads a table.

    Args:
        path: what was read here: the user's file, or a copy of it in UTF-8.
        file: the user's.
        said: its encoding, where the user says it.
        decimal: the mark of fractions of the training table.
    """
    look = look_at(path, decimal)
    look = sure_encoding(path, look) if is_text(look) or is_json(look) else look
    how: dict[str, Any] = {}
    texts: dict[str, Any] = {"dtype": "str", "keep_default_na": False}
    if look.suffix in DATABASES:
        raise Unusable(f"{_SAID} '{file.name}' is a database, and the notebook reads tables; write a CSV")
    if look.suffix in SHEETS:
        function, how = "read_excel", way_of_sheet(path, look)
    elif look.suffix in COLUMNAR:
        function, texts = "read_parquet" if look.suffix in PARQUET else "read_feather", {}
    elif is_json(look):
        return _json_way(look, file, said)
    else:
        function = "read_csv"
        told = {"sep": look.sep, "decimal": look.decimal, "skiprows": look.above}
        plain = {"sep": ",", "decimal": ".", "skiprows": 0}
        how = {name: value for name, value in told.items() if value != plain[name]} | _letters(look, file, said)
        how |= CSV_WAYS[look.quoted]
        how |= {"index_col": False, "usecols": list(range(look.width))} if look.beyond == NOTHING else {}
    return {"file": file.name, "function": f"pd.{function}", "how": how, "texts": {**how, **texts}}


def _json_way(look: Look, file: Path, said: str | None) -> dict[str, Any]:
    """How a function of the notebook's own reads JSON, as it is read here."""
    packed = kind_of(file).packed
    if packed == "zip":
        raise Unusable(f"{_SAID} '{file.name}' is JSON in a zip, which the notebook does not open; unpack it")
    told = {
        "packed": packed, "encoding": said or look.encoding, "errors": look.errors,
        "lined": look.suffix in LINED_JSON,
    }  # fmt: skip
    plain = {"packed": "", "encoding": "utf-8", "errors": "strict", "lined": False}
    how = {name: value for name, value in told.items() if value != plain[name]}
    return {"file": file.name, "function": "json_table", "how": how, "texts": {**how, "as_written": True}}


def _letters(look: Look, file: Path, said: str | None) -> dict[str, Any]:
    """The encoding and the packing of a CSV, where pandas would not tell them by itself."""
    encoding, packed = said or look.encoding, kind_of(file).packed
    how: dict[str, Any] = {} if encoding == "utf-8" else {"encoding": encoding}
    how |= {} if look.errors == "strict" else {"encoding_errors": look.errors}
    return how if packed == _NAMED.get(file.suffix.lower(), "") else {**how, "compression": packed or None}


def _both(path: Path, file: Path, way: dict[str, Any]) -> tuple[Any, Any]:
    """A table as the notebook reads it, and as it is read here; of texts that may be long the first rows."""
    rows = {"nrows": LOOKED_AT} if way["function"] == "pd.read_csv" else {}
    try:
        theirs = getattr(pd, way["function"].removeprefix("pd."))(file, **way["how"], **rows)
    except Exception as error:  # whatever pandas does not read
        why = first_line(error)
        raise Unusable(f"{_SAID} pandas by itself does not read '{file.name}' ({why}): save it as CSV") from error
    return theirs, read_any(path, rows.get("nrows"))[0]
