"""Further tables whose keys are columns of ours and of one more table: prices of a shop, an item and a week, where one
more says of each day which week it is of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from .tables.exact import Unusable
from .tables.plain_reading import names_of, rows_of
from .tables.shared_keys import OTHERWISE_CALLED, OwnColumns, alike

MOST_ROWS = 2_000_000
"""Of a table that leads to others."""
UNREAD = (Unusable, ValueError, OSError, LookupError, OverflowError, EOFError, TypeError, AttributeError)
"""What reading a file may raise that may be anything."""


def with_links(
    tables: list[dict[str, Any]],
    files: Mapping[str, Path],
    own: OwnColumns,
    look: Callable[[Path, str, OwnColumns], dict[str, Any] | str],
    preview: Any,
) -> list[dict[str, Any]]:
    """The tables, with those that a column of a table with one row each leads to; these stand last.

    Such a table `needs` the other, which `links` those columns; with these it has one row for each key, as no measure
    that is called alike would give it.

    Args:
        tables: that columns of ours name.
        files: names of all further tables.
        look: how a table is looked at with these columns as ours.
    """
    heads: dict[str, set[str]] = {}
    for name, path in files.items():
        try:
            heads[name] = {*map(str, names_of(path))}
        except UNREAD:  # the user's file, which may be anything
            continue
    found = {one["file"]: one for one in tables}
    for bridge in tables:
        if not bridge["one"] or bridge["rows"] > MOST_ROWS or bridge["file"] not in heads:
            continue
        new = heads[bridge["file"]] - set(own.columns)
        shared = {name: new & heads[name] for name in heads if name != bridge["file"]}
        links = sorted(set().union(*shared.values()))
        if not links:
            continue
        try:
            extended = OwnColumns(_rows_with(links, bridge, files[bridge["file"]], own), preview)
        except UNREAD:
            continue
        for name in [name for name, common in shared.items() if common]:
            one, known = _looked(look, files[name], name, extended), found.get(name)
            used = sorted({pair["mine"] for pair in one["by"]} & {*links}) if one else []
            if (
                one is None
                or not used
                or not one["one"]
                or (known and ("links" in known or known["names"] >= one["names"]))
            ):
                continue
            if min(one["covers"]) >= OTHERWISE_CALLED * min(bridge["covers"]):
                found[name] = {**one, "also": [], "needs": bridge["file"]}
                bridge["links"] = sorted({*bridge.get("links", ()), *used})
    return sorted(found.values(), key=lambda one: "needs" in one)


def _looked(look: Callable[..., dict[str, Any] | str], path: Path, name: str, own: OwnColumns) -> dict[str, Any] | None:
    try:
        one = look(path, name, own)
    except UNREAD:
        return None
    return None if isinstance(one, str) else one


def _rows_with(links: list[str], bridge: Mapping[str, Any], path: Path, own: OwnColumns) -> tuple[Any, Any]:
    """Our rows, both tables of them, with these columns of the table that leads to others."""
    by = bridge["by"]
    table = rows_of(path, bridge["how"], [*dict.fromkeys([*links, *(pair["side"] for pair in by)])])
    theirs = {place: alike(table[pair["side"]], pair["way"], pair["side_form"]) for place, pair in enumerate(by)}
    told: dict[Any, Any] = {**theirs, **{name: table[name] for name in links}}
    there = pd.DataFrame(told).drop_duplicates([*theirs])

    def extended(rows: Any) -> Any:
        ours = {place: alike(rows[pair["mine"]], pair["way"], pair["mine_form"]) for place, pair in enumerate(by)}
        found = pd.DataFrame(ours).merge(there, how="left", on=[*ours])
        return pd.concat([rows, found[links].set_axis(rows.index)], axis=1)

    return extended(own.rows[0]), extended(own.rows[1])
