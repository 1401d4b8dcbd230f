"""Recipe: what a script of the repertoire is made of. It rides along in the script's head as one comment line."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from utils.syntax import is_movable, source_lines

MARK = "# recipe: "


@dataclass(frozen=True, slots=True)
class Member:
    """One model of a blend."""

    family: str
    params: tuple[tuple[str, Any], ...] = ()
    weight: float = 1.0

    def param(self, name: str) -> Any:
        return dict(self.params).get(name)

    def with_param(self, name: str, value: Any) -> Member:
        return replace(self, params=tuple(sorted({**dict(self.params), name: value}.items())))


@dataclass(frozen=True, slots=True)
class Recipe:
    """Target transform, features, models: the genes."""

    target: str = "none"
    """`none`, `log1p` or `sqrt`."""
    features: tuple[str, ...] = ()
    """Names of steps in features.py."""
    encode: str = "native"
    """How trees see categories: `native`, `ordinal` or `target`."""
    members: tuple[Member, ...] = ()
    weights: str = "given"
    """`given`, or `learned` on out-of-fold predictions."""
    bags: int = 1
    """Seeds that are averaged for models that have one."""
    rows: int = 0
    """Training rows that are drawn, where there are more than can be learned in the time; 0 for all."""
    columns: int = 0
    """Numbers that are learned from, those that tell most by themselves, where there is no time for more; 0 for all."""
    rare: float = 0.0
    """Labels: 0 hands in the likeliest class, 1 the one that is likeliest beyond its share of the rows."""
    tables: tuple[str, ...] = ()
    """Files of further tables that are joined."""
    power: float = 1.0
    """What probabilities are raised to before they are handed in: a mean of models is less sure than it might be."""

    def dump(self) -> str:
        plain, usual = asdict(self), {"rows": 0, "columns": 0, "rare": 0.0, "power": 1.0, "tables": ()}
        said = {name: value for name, value in plain.items() if name not in usual or value != usual[name]}
        return json.dumps(said, sort_keys=True, separators=(",", ":"))


def load(text: str) -> Recipe:
    """The recipe of `dump`'s text. ValueError, KeyError or TypeError if it is not one."""
    plain = json.loads(text, parse_int=_number(int), parse_float=_number(float), parse_constant=_number(float))
    members = tuple(
        Member(str(m["family"]), tuple((str(k), _plain(v)) for k, v in m["params"]), float(m["weight"]))
        for m in plain["members"]
    )
    found = Recipe(
        target=str(plain["target"]),
        features=tuple(map(str, plain["features"])),
        encode=str(plain["encode"]),
        members=members,
        weights=str(plain["weights"]),
        bags=int(plain["bags"]),
        rows=int(plain.get("rows", 0)),
        columns=int(plain.get("columns", 0)),
        rare=float(plain.get("rare", 0.0)),
        power=float(plain.get("power", 1.0)),
        tables=tuple(map(str, plain.get("tables", ()))),
    )
    least = min(found.rows, found.columns, found.bags - 1)
    if not members or min(member.weight for member in members) <= 0 or least < 0 or found.power <= 0:
        raise ValueError("no recipe of ours")
    return found


def find(code: str) -> Recipe | None:
    """The recipe that a script carries, or None. Text of unknown origin until the script is rendered from it again."""
    for line in source_lines(code)[:40]:
        if line.startswith(MARK):
            try:
                return load(line[len(MARK) :])
            except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
                return None
    return None


def _number(kind: Callable[[str], float]) -> Callable[[str], float]:
    """Reads a number of JSON. ValueError for one that no recipe of ours has and that its moves could not bear."""

    def read(text: str) -> float:
        found = kind(text)
        if not is_movable(found):
            raise ValueError("a number too large for a recipe")
        return found

    return read


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
