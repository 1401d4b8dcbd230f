"""How the user's tables are read with pandas alone: for programs that leave this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .formats import LINED_JSON, SHEETS, look_at, read_any
from .own_tables import read_own
from .tables import Unusable


def ways(request: dict[str, Any]) -> dict[str, Any]:
    """`{train: {file, function, how, texts}, …}` for each table of the user's, and the `targets`.

    `texts` is how the table is read with its cells as they stand.

    Raises:
        Unusable: the labels lie in a second table, which a reader elsewhere would have to join.
    """
    tables = read_own(request)
    if request.get("labels") or not set(tables.targets) <= _columns(request["train"]):
        raise Unusable("export-best --notebook: the labels lie in a second table; join it to the first before")
    return {**{name: _way(path) for name, path in tables.files.items()}, "targets": tables.targets}


def _columns(path: str) -> set[str]:
    return set(map(str, read_any(Path(path), rows=5)[0].columns))


def _way(path: Path) -> dict[str, Any]:
    look = look_at(path)
    how: dict[str, Any] = {}
    texts: dict[str, Any] = {"dtype": "str", "keep_default_na": False}
    if look.suffix in SHEETS:
        function = "read_excel"
    elif look.suffix == ".feather":
        function, texts = "read_feather", {}
    elif look.suffix in (".parquet", ".pq"):
        function, texts = "read_parquet", {}
    elif look.suffix == ".json" or look.suffix in LINED_JSON:
        function, how = "read_json", {"lines": True} if look.suffix in LINED_JSON else {}
        texts = {"dtype": False}
    else:
        function = "read_csv"
        told = {"sep": look.mark, "decimal": look.decimal, "encoding": look.encoding}
        plain = {"sep": ",", "decimal": ".", "encoding": "utf-8"}
        how = {name: value for name, value in told.items() if value != plain[name]}
    return {"file": path.name, "function": function, "how": how, "texts": {**how, **texts}}
