"""One instance of a user's own: its cities, how it measures distances, and the length to compare tours with."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from problems.file_numbers import file_number
from problems.tsp.bound import one_tree_bound
from problems.tsp.instances import Point
from problems.tsp.scaling import on_scale

LARGEST = 1e100
"""Of a coordinate or a distance: sums and squares of those are numbers still."""


def coordinate(value: object, what: str) -> float:
    """A coordinate of a file; ValueError with `what` and the value for what is none."""
    found = float(file_number(value, what))
    if abs(found) > LARGEST:
        raise ValueError(f"{what} is {found:g}; allowed: up to {LARGEST:g}")
    return found


def distance(value: object, what: str) -> float:
    """The same for a distance that a file tells."""
    found = coordinate(value, what)
    if found < 0:
        raise ValueError(f"{what} is {found:g}; a distance is at least 0")
    return found


def nint(value: float) -> int:
    return int(value + 0.5)


def _att(a: Point, b: Point) -> float:
    exact = math.sqrt(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) / 10)
    whole = nint(exact)
    return float(whole + 1 if whole < exact else whole)


MEASURES: dict[str, Callable[[Point, Point], float]] = {
    "EUCLID": math.dist,
    "EUC_2D": lambda a, b: float(nint(math.dist(a, b))),
    "CEIL_2D": lambda a, b: float(math.ceil(math.dist(a, b))),
    "ATT": _att,
    "MAN_2D": lambda a, b: float(nint(abs(a[0] - b[0]) + abs(a[1] - b[1]))),
    "MAX_2D": lambda a, b: float(max(nint(abs(a[0] - b[0])), nint(abs(a[1] - b[1])))),
}
"""TSPLIB's measures by name, and the plain one of random instances and CSV files."""


@dataclass
class TourInstance:
    """Cities of one instance.

    Args:
        points: coordinates in the file's unit; [] where only distances are known.
        kind: a name of MEASURES; of no meaning where there is a `matrix`.
        matrix: distances that coordinates do not tell.
        best: length of the best known tour, if anybody told it.
        note: what its user should know of it.
        is_claimed: nobody has a tour of the length `best`.
    """

    name: str
    points: Sequence[Point]
    kind: str = "EUCLID"
    matrix: list[list[float]] | None = None
    best: float | None = None
    note: str = ""
    is_claimed: bool = False
    _bound: float | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.matrix) if self.matrix is not None else len(self.points)

    def between(self, a: int, b: int) -> float:
        if self.matrix is not None:
            return self.matrix[a][b]
        return MEASURES[self.kind](self.points[a], self.points[b])

    def length(self, tour: Sequence[int]) -> float:
        """Length of the closed tour in the file's unit; ValueError unless it visits every city once."""
        if sorted(tour) != list(range(len(self))):
            raise ValueError("not a tour: every city must be visited once")
        return sum(self.between(a, b) for a, b in zip(tour, [*tour[1:], tour[0]], strict=True))

    @property
    def reference(self) -> float:
        """The best known length, else a length that no tour can undercut (Held and Karp's bound)."""
        return self.best if self.best is not None else self.know_bound()

    def know_bound(self) -> float:
        """A length that no tour can undercut; computed once."""
        if self._bound is None:
            self._bound = one_tree_bound(self.table())
        return self._bound

    def table(self) -> list[list[float]]:
        """Every distance."""
        cities = range(len(self))
        return [[self.between(a, b) if a != b else 0.0 for b in cities] for a in cities]

    def view(self) -> tuple[list[list[float]], list[list[float]] | None]:
        """What the driver gets: coordinates in the unit square, or distances on that scale."""
        return on_scale(self.points, self.matrix)

    def content(self) -> Hashable:
        """What it is, whatever it is called."""
        if self.matrix is not None:
            return tuple(map(tuple, self.table()))
        return self.kind, tuple(self.points)
