"""How the user's tables are read with pandas alone: for programs that leave this machine."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from ..tables.amounts import SCALES, Amounts
from ..tables.contents import key_of_rows
from ..tables.dates import Dates
from ..tables.exact import Unusable
from ..tables.formats import DATABASES, FEATHER, LINED_JSON, SHEETS, look_at
from ..tables.sheets import way_of_sheet
from ..tables.text_look import CSV_WAYS, NOTHING
from .own_tables import read_own
from .recoded import recoded, with_originals


def ways(request: dict[str, Any]) -> dict[str, Any]:
    """`{tables: {train: {file, function, how, texts}, …}, targets, joined, amounts, dates, written}`.

    `texts` is how a table is read with its cells as they stand; `joined` is None, or the `key` (None: row by row) and
    the `columns` of the targets that lie in the table `labels`; `amounts` is column → its mark of fractions ('' for
    numbers as pandas reads them), cells that hold none, and units that count; `dates` is column
    → its shapes' formats, whether they have hours, cells that hold none; `written` is column → what the test calls
    it, where that differs.
    """
    for name, files in request.get("parts", {}).items():
        raise Unusable(
            f"export-best --notebook: data.{name} is {len(files)} files, and the notebook reads one; join them"
        )
    with TemporaryDirectory() as folder:
        request = recoded(with_originals(request), Path(folder))
        found = read_own(request)
        said = request.get("encoding")
        tables = {name: _way(path, said) for name, path in found.files.items()}
        joined = None
        if found.joined is not None:
            tables["labels"] = _way(found.joined.path, said if request.get("labels") else None)
            joined = {"key": found.joined.key, "columns": found.joined.columns}
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
        "tables": tables, "targets": found.targets, "joined": joined, "amounts": amounts, "dates": dates,
        "written": found.written,
    }  # fmt: skip


def _way(path: Path, said: str | None) -> dict[str, Any]:
    look = look_at(path)
    how: dict[str, Any] = {}
    texts: dict[str, Any] = {"dtype": "str", "keep_default_na": False}
    if look.suffix in DATABASES:
        raise Unusable(
            f"export-best --notebook: '{path.name}' is a database, and the notebook reads tables; write a CSV"
        )
    if look.suffix in SHEETS:
        function, how = "read_excel", way_of_sheet(path)
    elif look.suffix in FEATHER:
        function, texts = "read_feather", {}
    elif look.suffix in (".parquet", ".pq"):
        function, texts = "read_parquet", {}
        if any(name is not None for name in pd.read_parquet(path).index.names):
            said = f"'{path.name}' has an index of pandas, which the notebook does not read"
            raise Unusable(f"export-best --notebook: {said}; save it after reset_index()")
    elif look.suffix == ".json" or look.suffix in LINED_JSON:
        if look.suffix == ".json" and (key := key_of_rows(path)):
            said = f"'{path.name}' has its rows below the key '{key}', where the notebook does not look for them"
            raise Unusable(f"export-best --notebook: {said}; write them as JSON lines or CSV")
        function, how = "read_json", {"lines": True} if look.suffix in LINED_JSON else {}
        texts = {"dtype": False}
    else:
        function = "read_csv"
        told = {"sep": look.sep, "decimal": look.decimal, "encoding": said or look.encoding, "skiprows": look.above}
        plain = {"sep": ",", "decimal": ".", "encoding": "utf-8", "skiprows": 0}
        how = {name: value for name, value in told.items() if value != plain[name]}
        how |= CSV_WAYS[look.quoted]
        how |= {"index_col": False, "usecols": list(range(look.width))} if look.beyond == NOTHING else {}
    return {"file": path.name, "function": function, "how": how, "texts": {**how, **texts}}
