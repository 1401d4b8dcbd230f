"""Cities in CSV and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from problems.file_numbers import file_number
from problems.instance_text import (
    cells_of,
    check_columns,
    check_keys,
    column_names,
    instance_json,
    instance_stem,
    listed,
    table_rows,
)
from problems.tsp.instances import Point
from problems.tsp.tour_instance import TourInstance, coordinate

FORM = "JSON must be a list of [x, y], or {name: [[x, y], …]}, or {name: {points, best}}"


def from_csv(path: Path) -> list[TourInstance]:
    """Columns `x` and `y` (or the only two), and where there are several instances a column `instance`."""
    rows = list(table_rows(path))
    if not rows:
        raise ValueError("the file is empty")
    head = rows[0][0]
    if len(head) == 2 and any(map(_is_number, head)):
        names = ["x", "y"]
    else:
        names, rows = column_names(head), rows[1:]
    if not {"x", "y"} <= set(names):
        raise ValueError(f"needs the columns x and y, and `instance` where there are several; it has {listed(names)}")
    check_columns(names, ("x", "y", "instance"))
    cities: dict[str, list[Point]] = {}
    for row, place in rows:
        cells = cells_of(names, row, place)
        label = cells.get("instance", instance_stem(path)).strip()
        point = (coordinate(cells.get("x", ""), f"{place}: x"), coordinate(cells.get("y", ""), f"{place}: y"))
        cities.setdefault(label, []).append(point)
    return [TourInstance(label, points) for label, points in cities.items()]


def _is_number(word: str) -> bool:
    """Also nan and infinity: a first row of them is no head."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def from_json(path: Path) -> list[TourInstance]:
    """`{name: [[x, y], …]}`, `{name: {points: …, best: …}}`, or a plain list of points."""
    data = instance_json(path)
    named = {instance_stem(path): data} if isinstance(data, list) else data
    if not isinstance(named, dict):
        raise ValueError(FORM)
    return [_from_json(str(name), one) for name, one in named.items()]


def _from_json(name: str, one: Any) -> TourInstance:
    points = one.get("points") if isinstance(one, dict) else one
    best = one.get("best") if isinstance(one, dict) else None
    if not isinstance(points, list):
        raise ValueError(f"{FORM}; {name} is not so")
    if isinstance(one, dict):
        check_keys(one, ("points", "best"), name)
    known = None if best is None else float(file_number(best, f"{name}: best"))
    if known is not None and known <= 0:
        raise ValueError(f"{name}: best is {known:g}; a tour's length is above 0")
    cities = [_point(point, f"{name}: city {number}") for number, point in enumerate(points, 1)]
    if known is not None and known < (least := _least(cities)) * (1 - 1e-9):
        raise ValueError(f"{name}: best is {known:g}, but every tour is at least {least:g} long")
    return TourInstance(name, cities, best=known)


def _least(cities: Sequence[Point]) -> float:
    """A length that no tour undercuts: each city has two neighbours, at best the two nearest. Quick, and loose."""
    from scipy.spatial import KDTree

    near, _ = KDTree(cities).query(cities, k=min(3, len(cities)))  # the first is itself
    return float(near.sum()) / 2


def _point(point: Sequence[Any], place: str) -> Point:
    if not isinstance(point, list) or len(point) != 2:
        raise ValueError(f"{place} is {str(point)[:40]}, not [x, y]")
    return coordinate(point[0], f"{place}: x"), coordinate(point[1], f"{place}: y")
