"""Cities in CSV and JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from problems.file_numbers import file_number
from problems.instance_text import (
    Labels,
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
LABELS = ("city", "id", "name", "node")
ON_EARTH = tuple((lat, lon) for lat in ("lat", "latitude") for lon in ("lon", "lng", "long", "longitude"))
EARTH = 6371.0088
"""Its mean radius in kilometres. Source: IUGG, Moritz 2000, "Geodetic Reference System 1980"."""


def from_csv(path: Path) -> list[TourInstance]:
    """Columns `x` and `y` (or the only two), or a latitude and a longitude, whose distances are kilometres on a sphere;
    where there are several instances a column `instance`; one of LABELS says what a city is called."""
    rows = list(table_rows(path))
    if not rows:
        raise ValueError("the file is empty")
    head = rows[0][0]
    if len(head) == 2 and any(map(_is_number, head)):
        names = ["x", "y"]
    else:
        names, rows = column_names(head), rows[1:]
    axes = next((pair for pair in (("x", "y"), *ON_EARTH) if {*pair} <= {*names}), None)
    if axes is None:
        needs = "needs the columns x and y (or lat and lon, in degrees), and `instance` where there are several"
        alone = "; a table without a head has two columns" if any(map(_is_number, head)) else ""
        raise ValueError(f"{needs}; it has {listed(names)}{alone}")
    called = Labels(check_columns(names, (*axes, "instance"), LABELS))
    cities: dict[str, list[Point]] = {}
    for row, place in rows:
        cells = cells_of(names, row, place)
        label = cells.get("instance", instance_stem(path)).strip()
        called.add(label, cells, place)
        x, y = (coordinate(cells.get(axis, ""), f"{place}: {axis}") for axis in axes)
        if axes in ON_EARTH and not (abs(x) <= 90 and abs(y) <= 360):
            raise ValueError(f"{place}: {axes[0]} {x:g}, {axes[1]} {y:g}; allowed: -90 to 90, -360 to 360")
        cities.setdefault(label, []).append((x, y))
    return [
        TourInstance(label, [], "EXPLICIT", _kilometres(points)) if axes in ON_EARTH else TourInstance(label, points)
        for label, points in cities.items()
    ]


def _kilometres(places: Sequence[Point]) -> list[list[float]]:
    """Great circles between (latitude, longitude) in degrees; the haversine formula keeps short ones exact."""
    known = [(math.radians(latitude), math.radians(longitude)) for latitude, longitude in places]

    def between(a: Point, b: Point) -> float:
        across = math.cos(a[0]) * math.cos(b[0]) * math.sin((a[1] - b[1]) / 2) ** 2
        return 2 * EARTH * math.asin(min(1.0, math.sqrt(math.sin((a[0] - b[0]) / 2) ** 2 + across)))

    return [[between(a, b) for b in known] for a in known]


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
    return TourInstance(name, cities, best=known, is_claimed=known is not None)


def _least(cities: Sequence[Point]) -> float:
    """A length that no tour undercuts: each city has two neighbours, at best the two nearest. Quick, and loose."""
    from scipy.spatial import KDTree

    near, _ = KDTree(cities).query(cities, k=min(3, len(cities)))  # the first is itself
    return float(near.sum()) / 2


def _point(point: Sequence[Any], place: str) -> Point:
    if not isinstance(point, list) or len(point) != 2:
        raise ValueError(f"{place} is {str(point)[:40]}, not [x, y]")
    return coordinate(point[0], f"{place}: x"), coordinate(point[1], f"{place}: y")
