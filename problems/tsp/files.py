"""Instances of one's own: TSPLIB files, CSV or JSON with coordinates, or a folder of them."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from problems.tsp.instances import Point
from problems.tsp.tour_instance import TourInstance
from utils.errors import ConfigError

SUFFIXES = (".tsp", ".csv", ".json")
MOST_CITIES = 2000
"""A rule is called for every pair of cities."""
OPTIMA = {
    "burma14": 3323, "ulysses16": 6859, "ulysses22": 7013, "att48": 10628, "eil51": 426, "berlin52": 7542, "st70": 675,
    "eil76": 538, "pr76": 108159, "rat99": 1211, "kroA100": 21282, "kroB100": 22141, "kroC100": 20749,
    "kroD100": 21294, "kroE100": 22068, "rd100": 7910, "eil101": 629, "lin105": 14379, "pr107": 44303, "pr124": 59030,
    "bier127": 118282, "ch130": 6110, "pr136": 96772, "pr144": 58537, "ch150": 6528, "kroA150": 26524,
    "kroB150": 26130, "pr152": 73682, "u159": 42080, "rat195": 2323, "d198": 15780, "kroA200": 29368,
    "kroB200": 29437, "ts225": 126643, "tsp225": 3916, "pr226": 80369, "gil262": 2378, "pr264": 49135, "a280": 2579,
    "pr299": 48191, "lin318": 42029, "rd400": 15281, "fl417": 11861, "pr439": 107217, "pcb442": 50778, "d493": 35002,
    "u574": 36905, "rat575": 6773, "p654": 34643, "d657": 48912, "u724": 41910, "rat783": 8806, "pr1002": 259045,
}  # fmt: skip
"""Lengths of shortest tours. Source: Reinelt's TSPLIB 95, list of optimal solutions for symmetric TSPs."""


def load(name: str) -> list[TourInstance]:
    """The instances of a file, or of every file of a folder. ConfigError: one line that names the file."""
    path = Path(name).expanduser()
    if path.is_dir():
        found = [one for file in sorted(path.iterdir()) if file.suffix.lower() in SUFFIXES for one in _read(file)]
        if not found:
            raise ConfigError(f"problem.name={name}: the folder holds no {', '.join(SUFFIXES)} file")
        return found
    if not path.is_file():
        raise ConfigError(f"problem.name={name}: no such file; tsp reads a file or folder of {', '.join(SUFFIXES)} "
                          f"instances, and makes random ones without problem.name")  # fmt: skip
    return _read(path)


def _read(path: Path) -> list[TourInstance]:
    readers = {".csv": _from_csv, ".json": _from_json}
    try:
        found = readers.get(path.suffix.lower(), _from_tsplib)(path)
        for one in found:
            if not 4 <= len(one) <= MOST_CITIES:
                raise ValueError(f"{one.name} has {len(one)} cities; allowed: 4 to {MOST_CITIES}")
    except (ValueError, KeyError, TypeError, IndexError, UnicodeDecodeError) as error:
        said = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ConfigError(f"problem.name={path}: {said}") from error
    return found


# ---------------------------------------------------------------- TSPLIB


def _from_tsplib(path: Path) -> list[TourInstance]:
    """A symmetric instance of TSPLIB 95."""
    head, sections = _sections(path.read_text(encoding="utf-8", errors="replace"))
    if head.get("TYPE", "TSP").split()[:1] != ["TSP"]:
        raise ValueError(f"TYPE: {head['TYPE']}; only TSP is read (symmetric)")
    count, kind = int(head["DIMENSION"]), head.get("EDGE_WEIGHT_TYPE", "EUC_2D")
    name = head.get("NAME", path.stem).removesuffix(".tsp")
    matrix = _matrix(kind, head, sections, count)
    spots = sections.get("NODE_COORD_SECTION") or sections.get("DISPLAY_DATA_SECTION") or []
    points = [(float(spots[i + 1]), float(spots[i + 2])) for i in range(0, 3 * count, 3)] if spots else []
    if not points and matrix is None:
        raise ValueError("no NODE_COORD_SECTION")
    best = _length_of_tour(path.with_suffix(".opt.tour"), points, matrix, kind)
    if best is None and name in OPTIMA and name.endswith(str(count)):
        best = float(OPTIMA[name])
    return [TourInstance(name, points, kind if matrix is None or kind == "GEO" else "EXPLICIT", matrix, best)]


def _sections(text: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    head: dict[str, str] = {}
    sections: dict[str, list[str]] = {}
    into: list[str] | None = None
    for line in text.splitlines():
        if line.strip() == "EOF":
            break
        if found := re.fullmatch(r"\s*([A-Z_0-9]+)\s*:\s*(.*?)\s*", line):
            head[found[1]], into = found[2], None
        elif re.fullmatch(r"\s*[A-Z_]+_SECTION\s*", line):
            into = sections.setdefault(line.strip(), [])
        elif into is not None:
            into += line.split()
    return head, sections


def _matrix(kind: str, head: dict[str, str], sections: dict[str, list[str]], count: int) -> list[list[float]] | None:
    """Distances that are given, or that no coordinates of the plane tell."""
    if kind in ("EUC_2D", "CEIL_2D", "ATT", "MAN_2D", "MAX_2D"):
        return None
    if kind == "GEO":
        spots = sections["NODE_COORD_SECTION"]
        places = [(float(spots[i + 1]), float(spots[i + 2])) for i in range(0, 3 * count, 3)]
        return [[_on_globe(a, b) if a is not b else 0.0 for b in places] for a in places]
    if kind != "EXPLICIT":
        raise ValueError(f"EDGE_WEIGHT_TYPE: {kind}; allowed: EUC_2D, CEIL_2D, ATT, MAN_2D, MAX_2D, GEO, EXPLICIT")
    form, weights = head["EDGE_WEIGHT_FORMAT"], iter(map(float, sections["EDGE_WEIGHT_SECTION"]))
    if form not in _CELLS:
        raise ValueError(f"EDGE_WEIGHT_FORMAT: {form}; allowed: {', '.join(_CELLS)}")
    table = [[0.0] * count for _ in range(count)]
    try:
        for row in range(count):
            for column in _CELLS[form](row, count):
                table[row][column] = next(weights)
                if form != "FULL_MATRIX":
                    table[column][row] = table[row][column]
    except StopIteration:
        raise ValueError("EDGE_WEIGHT_SECTION ends too early") from None
    return table


_CELLS = {
    "FULL_MATRIX": lambda row, count: range(count),
    "UPPER_ROW": lambda row, count: range(row + 1, count),
    "LOWER_ROW": lambda row, count: range(row),
    "UPPER_DIAG_ROW": lambda row, count: range(row, count),
    "LOWER_DIAG_ROW": lambda row, count: range(row + 1),
}


def _on_globe(a: Point, b: Point) -> float:
    """TSPLIB's GEO: degrees and minutes on its idealised sphere, whole kilometres."""
    (lat_a, long_a), (lat_b, long_b) = (tuple(map(_radians, place)) for place in (a, b))
    q1, q2, q3 = math.cos(long_a - long_b), math.cos(lat_a - lat_b), math.cos(lat_a + lat_b)
    return float(int(6378.388 * math.acos(0.5 * ((1 + q1) * q2 - (1 - q1) * q3)) + 1.0))


def _radians(value: float) -> float:
    degrees = int(value)
    return 3.141592 * (degrees + 5.0 * (value - degrees) / 3.0) / 180.0


def _length_of_tour(path: Path, points: list[Point], matrix: Any, kind: str) -> float | None:
    """Length of the shortest tour that lies beside the instance, `NAME.opt.tour`."""
    if not path.is_file():
        return None
    _, sections = _sections(path.read_text(encoding="utf-8", errors="replace"))
    tour = [int(word) - 1 for word in sections["TOUR_SECTION"] if int(word) > 0]
    return TourInstance(path.stem, points, kind, matrix).length(tour)


# ---------------------------------------------------------------- CSV, JSON


def _from_csv(path: Path) -> list[TourInstance]:
    """Columns `x` and `y` (or the only two), and where there are several instances a column `instance`."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = [row for row in csv.reader(file) if row]
    names = [name.strip().lower() for name in rows[0]]
    if _are_numbers(rows[0]):
        names = ["x", "y"] if len(names) == 2 else []
    else:
        rows = rows[1:]
    if not {"x", "y"} <= set(names):
        raise ValueError("needs the columns x and y, and `instance` where there are several")
    x, y = names.index("x"), names.index("y")
    group = names.index("instance") if "instance" in names else None
    cities: dict[str, list[Point]] = {}
    for row in rows:
        label = path.stem if group is None else row[group].strip()
        cities.setdefault(label, []).append((float(row[x]), float(row[y])))
    return [TourInstance(label, points) for label, points in cities.items()]


def _are_numbers(row: Sequence[str]) -> bool:
    try:
        return all(math.isfinite(float(word)) for word in row)
    except ValueError:
        return False


def _from_json(path: Path) -> list[TourInstance]:
    """`{name: [[x, y], …]}`, `{name: {points: …, best: …}}`, or a plain list of points."""
    data = json.loads(path.read_text(encoding="utf-8"))
    named = {path.stem: data} if isinstance(data, list) else data
    found = []
    for name, one in named.items():
        points = one["points"] if isinstance(one, dict) else one
        best = one.get("best") if isinstance(one, dict) else None
        cities = [(float(x), float(y)) for x, y in points]
        found.append(TourInstance(str(name), cities, best=None if best is None else float(best)))
    return found
