"""Instances of one's own: TSPLIB files, CSV or JSON with coordinates, or a folder of them."""

from __future__ import annotations

from pathlib import Path

from problems.file_numbers import unread
from problems.instance_text import TABLES, files_of_instances, instance_files, instance_stem, instance_suffix
from problems.tsp.tables import from_csv, from_json
from problems.tsp.tour_instance import TourInstance
from problems.tsp.tsplib import from_tsplib, tour_beside
from problems.user_files import BESIDE, listed
from utils.counts import counted
from utils.errors import ConfigError
from utils.user_path import user_path

SUFFIXES = (".tsp", *TABLES, ".json")
MOST_CITIES = 2000
"""A rule is called for every pair of cities."""


_READERS = {**dict.fromkeys(TABLES, from_csv), ".json": from_json}


def deciding_files(name: str) -> dict[str, Path]:
    """What `Problem.scoring_files` tells: the instances, and beside each of TSPLIB's its shortest tour, under one name
    whether it is packed or not."""
    found = files_of_instances(name, SUFFIXES)
    instances = [path for path in found.values() if instance_suffix(path) not in _READERS]
    return {**found, **{f"{BESIDE}{instance_stem(path)}.opt.tour": tour_beside(path) for path in instances}}


def tours_of_none(name: str) -> str:
    """What is told of tours in a folder beside no instance of their name; '' where there are none."""
    folder = user_path(name)
    if not folder.is_dir():
        return ""
    known = {tour_beside(path).name for path in instance_files(folder, SUFFIXES)}
    idle = [path.name for path in sorted(folder.iterdir()) if instance_suffix(path) == ".tour" and path.is_file()]
    idle = [tour for tour in idle if tour not in known]
    return f"no instance is called like {listed(idle)}: not read" if idle else ""


def load(name: str) -> list[TourInstance]:
    """The instances of a file, or of every file of a folder. ConfigError: one line that names the file."""
    path = user_path(name)
    if path.is_dir():
        found = [one for file in instance_files(path, SUFFIXES) for one in _read(file)]
        if not found:
            raise ConfigError(f"problem.name={name}: the folder holds no {', '.join(SUFFIXES)} file")
        return found
    if not path.is_file():
        raise ConfigError(f"problem.name={name}: no such file; tsp reads a file or folder of {', '.join(SUFFIXES)} "
                          f"instances, and makes random ones without problem.name")  # fmt: skip
    return _read(path)


def _read(path: Path) -> list[TourInstance]:
    try:
        found = _READERS.get(instance_suffix(path), from_tsplib)(path)
        if not found:
            raise ValueError("it holds no cities")
        for one in found:
            if not 4 <= len(one) <= MOST_CITIES:
                raise ValueError(f"{one.name} has {counted(len(one), 'city', 'cities')}; allowed: 4 to {MOST_CITIES}")
            if one.best is None and _may_lie_together(one) and one.reference <= 0:
                raise ValueError(f"{one.name}: its cities lie at one place (distances are 0): no tour has a length")
    except (ValueError, KeyError, OSError) as error:
        said = f"no TSPLIB file: it lacks {error.args[0]}" if isinstance(error, KeyError) else unread(error)
        raise ConfigError(f"problem.name={path}: {said}") from error
    return found


def _may_lie_together(one: TourInstance) -> bool:
    """Whether steps of length 0 lead from the first city to every other: only then can a bound be 0."""
    left, reached = set(range(1, len(one))), [0]
    while left and reached:
        here = reached.pop()
        near = {city for city in left if one.between(here, city) <= 0}
        left -= near
        reached += near
    return not left
