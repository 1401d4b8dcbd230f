"""TSPLIB 95: symmetric instances, and the shortest tour beside one."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from problems.file_numbers import whole_number
from problems.instance_text import PACKED, instance_stem, instance_text
from problems.tsp.published import take_published
from problems.tsp.tour_instance import MEASURES, TourInstance, coordinate, distance, nint
from utils.counts import counted

Word = tuple[str, str]
"""A word of a section, and the line that it stands in: `line 9`."""
Table = list[list[float]]
Place = tuple[float, ...]
"""Two coordinates, or three."""


def from_tsplib(path: Path) -> list[TourInstance]:
    """A symmetric instance. ValueError, KeyError: what is wrong with it, and where."""
    head, sections = _sections(path)
    if head.get("TYPE", "TSP").upper().split()[:1] != ["TSP"]:
        raise ValueError(f"TYPE: {head['TYPE']}; only TSP is read (symmetric)")
    if bound := next((name for name in sections if name not in SECTIONS), None):
        raise ValueError(f"{bound}: not kept here, so that scores would be another problem's; allowed: {_SECTIONS}")
    count, kind = whole_number(head["DIMENSION"], "DIMENSION"), _kind(head, sections)
    name = head.get("NAME", "").removesuffix(".tsp") or instance_stem(path)
    if kind not in KINDS:
        raise ValueError(f"EDGE_WEIGHT_TYPE: {kind}; allowed: {', '.join(KINDS)}")
    names, points = ([], []) if kind == "EXPLICIT" else _points(sections, count, "xyz" if kind in IN_SPACE else "xy")
    matrix = _weights(head, sections, count) if kind == "EXPLICIT" else _table(kind, points)
    flat = [] if kind in IN_SPACE else [(x, y) for x, y in points]
    best = _length_of_tour(tour_beside(path), TourInstance(name, flat, kind, matrix), names)
    one = TourInstance(name, flat, kind, matrix, best)
    if best is None:
        take_published(one)
    one.note = "; ".join(filter(None, [one.note, _in_decimals(name, points) if kind == "GEO" else ""]))
    return [one]


def _kind(head: dict[str, str], sections: dict[str, list[Word]]) -> str:
    """How distances are measured. ValueError where the file tells them, and says that coordinates do."""
    has_weights = "EDGE_WEIGHT_SECTION" in sections
    kind = head.get("EDGE_WEIGHT_TYPE", "EXPLICIT" if has_weights else "EUC_2D").upper()
    if has_weights and kind != "EXPLICIT":
        raise ValueError(f"EDGE_WEIGHT_TYPE: {kind}, but there is an EDGE_WEIGHT_SECTION, whose type is EXPLICIT")
    return kind


def tour_beside(path: Path) -> Path:
    """Where an instance's shortest tour lies, if its user has it: `NAME.opt.tour`, packed or not."""
    plain = path.with_name(f"{instance_stem(path)}.opt.tour")
    packed = (plain.with_name(f"{plain.name}{suffix}") for suffix in PACKED)
    return next((tour for tour in (plain, *packed) if tour.is_file()), plain)


IN_SPACE: dict[str, Callable[[Place, Place], float]] = {
    "EUC_3D": lambda a, b: float(nint(math.dist(a, b))),
    "MAN_3D": lambda a, b: float(nint(sum(abs(p - q) for p, q in zip(a, b, strict=True)))),
    "MAX_3D": lambda a, b: float(max(nint(abs(p - q)) for p, q in zip(a, b, strict=True))),
}
"""Measures of places with three coordinates."""
KINDS = (*(kind for kind in MEASURES if kind != "EUCLID"), "GEO", *IN_SPACE, "EXPLICIT")
SECTIONS = ("NODE_COORD_SECTION", "DISPLAY_DATA_SECTION", "EDGE_WEIGHT_SECTION", "TOUR_SECTION")
"""Others say which tours are allowed (FIXED_EDGES_SECTION), or belong to other problems."""
_SECTIONS = ", ".join(SECTIONS)
_KEYWORDS = (
    "NAME", "TYPE", "COMMENT", "DIMENSION", "CAPACITY", "EDGE_WEIGHT_TYPE", "EDGE_WEIGHT_FORMAT", "EDGE_DATA_FORMAT",
    "NODE_COORD_TYPE", "DISPLAY_DATA_TYPE",
)  # fmt: skip
_HEAD = re.compile(rf"\s*(?:([a-z_0-9]+)\s*:|({'|'.join(_KEYWORDS)})\s)\s*(.*?)\s*", re.I)
"""A line of the head; behind a keyword of TSPLIB's own some leave the colon out."""


def _sections(path: Path) -> tuple[dict[str, str], dict[str, list[Word]]]:
    """What is told before the sections, and the words of each. Keywords may be of either case."""
    head: dict[str, str] = {}
    sections: dict[str, list[Word]] = {}
    into: list[Word] | None = None
    for number, line in enumerate(instance_text(path, errors="replace").splitlines(), 1):
        if line.strip().upper() == "EOF":
            break
        if found := re.fullmatch(r"\s*([a-z_]+_section)\s*:?\s*", line, re.I):
            into = sections.setdefault(found[1].upper(), [])
        elif found := _HEAD.fullmatch(line):
            key, value, into = (found[1] or found[2]).upper(), found[3], None
            if key != "COMMENT" and head.setdefault(key, value) != value:
                raise ValueError(f"line {number}: {key}: {value}, but it was {head[key]} before")
        elif into is not None:
            into += [(word, f"line {number}") for word in line.split()]
    return head, sections


def _points(sections: dict[str, list[Word]], count: int, axes: str) -> tuple[list[str], list[Place]]:
    """What cities are called, and where they lie: a city is its number and a word an axis. In order of the numbers
    where these are 1, 2, …"""
    each = 1 + len(axes)
    words = sections.get("NODE_COORD_SECTION")
    if not words:
        raise ValueError(
            "no NODE_COORD_SECTION" + " (DISPLAY_DATA_SECTION is for pictures)" * ("DISPLAY_DATA_SECTION" in sections)
        )
    on = Counter(place for _, place in words) if len(words) != each * count else {}
    for place, found in on.items():
        if found % each:
            raise ValueError(f"{place}: {counted(found, 'word')}; a city is its number, {_AXES[axes]}")
    if len(words) != each * count:
        there = counted(len(words) // each, "city", "cities")
        raise ValueError(f"DIMENSION: {count}, but there are coordinates of {there}")
    by_number: dict[str, Place] = {}
    for start in range(0, len(words), each):
        (city, place), *told = words[start : start + each]
        if city in by_number:
            raise ValueError(f"{place}: city {city} stands twice")
        by_number[city] = tuple(
            coordinate(word, f"{place}: {axis} of city {city}") for axis, (word, _) in zip(axes, told, strict=True)
        )
    numbers = [str(number) for number in range(1, count + 1)]
    names = numbers if by_number.keys() == set(numbers) else list(by_number)
    return names, [by_number[name] for name in names]


_AXES = {"xy": "x and y", "xyz": "x, y and z"}


def _weights(head: dict[str, str], sections: dict[str, list[Word]], count: int) -> Table:
    form, words = head["EDGE_WEIGHT_FORMAT"].upper(), sections["EDGE_WEIGHT_SECTION"]
    if form not in _CELLS:
        raise ValueError(f"EDGE_WEIGHT_FORMAT: {form}; allowed: {', '.join(_CELLS)}")
    cells = [(row, column) for row in range(count) for column in _CELLS[form](row, count)]
    if len(words) != len(cells):
        needs = f"{form} of {counted(count, 'city', 'cities')} needs {len(cells)}"
        raise ValueError(f"EDGE_WEIGHT_SECTION has {counted(len(words), 'number')}; {needs}")
    table = [[0.0] * count for _ in range(count)]
    for (row, column), (word, place) in zip(cells, words, strict=True):
        what = f"{place}: the distance of cities {row + 1} and {column + 1}"
        table[row][column] = coordinate(word, what) if row == column else distance(word, what)
        if form != "FULL_MATRIX":
            table[column][row] = table[row][column]
        elif column < row and not math.isclose(table[row][column], table[column][row], rel_tol=1e-9):
            raise ValueError(f"{what} is {word}, back it is {table[column][row]:g}; only symmetric instances are read")
    return table


_CELLS = {
    "FULL_MATRIX": lambda row, count: range(count),
    "UPPER_ROW": lambda row, count: range(row + 1, count),
    "LOWER_ROW": lambda row, count: range(row),
    "UPPER_DIAG_ROW": lambda row, count: range(row, count),
    "LOWER_DIAG_ROW": lambda row, count: range(row + 1),
}
_CELLS |= {  # by columns it is the other half by rows, since it is symmetric
    "UPPER_COL": _CELLS["LOWER_ROW"],
    "LOWER_COL": _CELLS["UPPER_ROW"],
    "UPPER_DIAG_COL": _CELLS["LOWER_DIAG_ROW"],
    "LOWER_DIAG_COL": _CELLS["UPPER_DIAG_ROW"],
}


def _table(kind: str, places: list[Place]) -> Table | None:
    """All distances where two coordinates and a measure of a plane do not tell them."""
    if kind == "GEO":
        return _globe(places)
    measure = IN_SPACE.get(kind)
    return None if measure is None else [[measure(a, b) for b in places] for a in places]


def _globe(places: list[Place]) -> Table:
    for number, (latitude, longitude) in enumerate(places, 1):
        if abs(latitude) > 90 or abs(longitude) > 360:
            where = f"city {number} lies at latitude {latitude:g}, longitude {longitude:g}"
            raise ValueError(f"{where}; GEO has latitudes of -90 to 90, then longitudes of -360 to 360")
    return [[_on_globe(a, b) if a is not b else 0.0 for b in places] for a in places]


def _on_globe(a: Place, b: Place) -> float:
    """TSPLIB's GEO: degrees and minutes on its idealised sphere, whole kilometres."""
    (lat_a, long_a), (lat_b, long_b) = (tuple(map(_radians, place)) for place in (a, b))
    q1, q2, q3 = math.cos(long_a - long_b), math.cos(lat_a - lat_b), math.cos(lat_a + lat_b)
    return float(int(6378.388 * math.acos(max(-1.0, min(1.0, 0.5 * ((1 + q1) * q2 - (1 - q1) * q3)))) + 1.0))


def _in_decimals(name: str, places: list[Place]) -> str:
    """What is told of coordinates of GEO that can hardly be its own; '' of others."""
    odd = next((number for place in places for number in place if _minutes(number) >= 60), None)
    if odd is None:
        return ""
    return f"{name}: GEO has degrees and minutes, and {odd:g} has {_minutes(odd)}: are they decimal degrees?"


def _minutes(value: float) -> int:
    """What stands behind the point of a coordinate of GEO, as `16.47` has 47."""
    return round(100 * abs(value - int(value)))


def _radians(value: float) -> float:
    degrees = int(value)
    return 3.141592 * (degrees + 5.0 * (value - degrees) / 3.0) / 180.0


def _length_of_tour(path: Path, one: TourInstance, names: list[str]) -> float | None:
    """Length of the shortest tour that lies beside the instance.

    Args:
        names: what the instance calls its cities, which is how a tour names them; else it counts them from 1.
    """
    if not path.is_file():
        return None
    _, sections = _sections(path)
    words = [(word, place) for word, place in sections.get("TOUR_SECTION", []) if word != "-1"]
    if not words:
        raise ValueError(f"{path.name}: it has no TOUR_SECTION, or no city in it")
    if {word for word, _ in words} == set(names):
        places = {name: place for place, name in enumerate(names)}
        tour = [places[word] for word, _ in words]
    else:
        tour = [whole_number(word, f"{path.name}: {place}: a city") - 1 for word, place in words]
    try:
        length = one.length(tour)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error
    if length <= 0:
        raise ValueError(f"{path.name}: the tour has length 0: the cities lie at one place")
    return length
