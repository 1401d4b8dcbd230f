"""The columns of files that are one table: what each of them calls otherwise or lacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..tables.columnar_files import column_names
from ..tables.columns import listed, same_names
from ..tables.contents import doubled, read_any
from ..tables.exact import Unusable
from ..tables.formats import COLUMNAR, look_at

ALIKE = 0.5
"""Part of all columns that each file must have: a table gains some over the years."""


@dataclass(frozen=True, slots=True)
class ColumnsOfParts:
    """What the files call their columns.

    Args:
        names: of all files, in the order of the first, then of what later ones have besides.
        called: file → what it calls otherwise → as the first calls it.
        lacking: file → columns that it has not.
    """

    names: list[str]
    called: dict[Path, dict[str, str]]
    lacking: dict[Path, list[str]]

    @property
    def are_same(self) -> bool:
        """True if each file has all columns under one name."""
        return not any(self.called.values()) and not any(self.lacking.values())

    def of(self, path: Path, rows: Any, blank: Any) -> Any:
        """Rows of a file with the columns of all."""
        rows = rows.rename(columns=self.called[path])
        return rows.reindex(columns=self.names, fill_value=blank) if self.lacking[path] else rows[self.names]

    def told(self) -> Iterator[str]:
        """A line on what differs."""
        if odd := next((path for path, names in self.called.items() if names), None):
            pairs = [f"{theirs} is {ours}" for theirs, ours in self.called[odd].items()]
            yield f"of {odd.name} {listed(pairs)}"
        without: dict[tuple[str, ...], list[str]] = {}
        for path in [path for path, names in self.lacking.items() if names]:
            without.setdefault(tuple(self.lacking[path]), []).append(path.name)
        for names, files in without.items():
            yield f"{listed(files)} {'has' if len(files) == 1 else 'have'} no {listed([*names])}: empty there"


def columns_of_parts(paths: Sequence[Path], said: str, needed: Sequence[str]) -> ColumnsOfParts:
    """The columns of all files.

    Args:
        needed: what no file may lack that another has: the targets.

    Raises:
        Unusable: two columns of one name, or files that are no parts of one table.
    """
    found: dict[Path, list[str]] = {}
    called: dict[Path, dict[str, str]] = {}
    for path in paths:
        if twice := [*doubled(path)]:
            raise Unusable(f"{said}: '{path.name}' has several columns called '{twice[0]}'; rename them")
        names = _names(path)
        called[path] = same_names(names, found[paths[0]]) if found else {}
        found[path] = [called[path].get(name, name) for name in names]
    union = [*dict.fromkeys(name for names in found.values() for name in names)]
    whole = ColumnsOfParts(union, called, {path: [n for n in union if n not in found[path]] for path in paths})
    for path, lacks in whole.lacking.items():
        if {*lacks} & {*needed} or len(lacks) > (1 - ALIKE) * len(union):
            odd = path if path != paths[0] else next(one for one in paths if found[one] != found[path])
            raise Unusable(_differs(odd, paths[0], found, said))
    return whole


def _names(path: Path) -> list[str]:
    look = look_at(path)
    return column_names(path, look) if look.suffix in COLUMNAR else [*map(str, read_any(path, rows=5)[0])]


def _differs(odd: Path, first: Path, found: dict[Path, list[str]], said: str) -> str:
    lacks = [name for name in found[first] if name not in found[odd]]
    more = [name for name in found[odd] if name not in found[first]]
    parts = [f"lacks {listed(lacks)}" if lacks else "", f"has {listed(more)} besides" if more else ""]
    differs = f"'{odd.name}' {' and '.join(filter(None, parts))}"
    alike = "files that are joined have the targets and at least half of all columns in common"
    remedy = f"{alike}; say which they are: --{said}='PATTERN'"
    return f"{said}: {differs}, other than '{first.name}': {remedy}"
