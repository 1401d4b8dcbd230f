"""HiGHS, the solver that SciPy carries: how far heuristics are from what is possible with all data at hand.

It is no rival of an online rule, which decides before it knows the rest; it tells the size of what is left to gain.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from utils.config_section import Section

MOST_CITIES = 200
"""Above, the table of edges alone takes the solver longer than anybody waits."""
MOST_ARCS = 50_000
"""The same for bins: above, HiGHS looks at its clock too seldom, and first fit decreasing is what is found."""


class SolverOptions(Section):
    """What a problem with instances understands besides its own options."""

    solver: Literal["highs"] | None = None
    """`highs`: instances of the final part whose best is not known are solved, for the table at the end."""
    solver_seconds: float = Field(60.0, gt=0)
    """For all instances together."""

    @property
    def read(self) -> tuple[str, ...]:
        """Which of these say something as they are set."""
        return ("solver", "solver_seconds") if self.solver else ("solver",)


@dataclass(frozen=True, slots=True)
class Solved:
    """What the solver found: an optimum, or a bound or packing where the time was up."""

    value: float
    proven: bool

    def told(self, name: str) -> str:
        """The instance's name, with what it is compared with."""
        return f"{name} ({'optimum' if self.proven else 'HiGHS'})"


class Clock:
    """Seconds that several instances share: each gets an equal part of what is left."""

    def __init__(self, seconds: float, instances: int) -> None:
        self._end, self._left = time.monotonic() + seconds, instances

    def share(self) -> float:
        left, self._left = max(self._left, 1), self._left - 1
        return max(0.0, self._end - time.monotonic()) / left


def fewest_bins(sizes: Sequence[int], capacity: int, seconds: float) -> Solved:
    """Bins of the best packing found: by first fit decreasing where that needs no more than the total size asks for.

    Items are arcs of a graph whose nodes are fill levels, bins are paths through it, so that equal sizes are one count.

    Source: Valério de Carvalho 1999, "Exact solution of bin-packing problems using column generation and
    branch-and-bound".
    """
    import numpy as np

    demand, plain = Counter(map(int, sizes)), _first_fit_decreasing(sizes, capacity)
    if plain == -(-sum(demand.elements()) // capacity):
        return Solved(plain, True)
    arcs = _arcs(demand, capacity)
    if arcs is None:
        return Solved(plain, False)
    tails, heads, kinds = (np.array(column) for column in zip(*arcs, strict=True))
    flow = (_incidence(heads, capacity + 1) - _incidence(tails, capacity + 1))[1:capacity]
    packed = _incidence(kinds, capacity + 1)[list(demand)]
    limits = [(flow, 0, 0), (packed, list(demand.values()), np.inf)]
    found = _solve((tails == 0).astype(float), limits, len(sizes), seconds)
    return Solved(plain if found.x is None else min(plain, round(found.fun)), found.status == 0)


def _first_fit_decreasing(sizes: Sequence[int], capacity: int) -> int:
    rooms: list[int] = []
    for size in sorted(map(int, sizes), reverse=True):
        place = next((place for place, room in enumerate(rooms) if room >= size), None)
        if place is None:
            rooms.append(capacity - size)
        else:
            rooms[place] -= size
    return len(rooms)


def _arcs(demand: Counter[int], capacity: int) -> list[tuple[int, int, int]] | None:
    """(from, to, size) of every item at every fill that larger ones can lead to; size 0 leaves a unit empty.

    None where they are more than `MOST_ARCS`.
    """
    reached, arcs = {0}, set()
    for size in sorted(demand, reverse=True):
        for start in sorted(reached):
            for place in range(start, min(start + size * demand[size], capacity) - size + 1, size):
                arcs.add((place, place + size, size))
                reached.add(place + size)
            if len(arcs) > MOST_ARCS:
                return None
    return sorted(arcs) + [(place, place + 1, 0) for place in range(capacity)]


def shortest_tour(distances: Any, seconds: float) -> Solved | None:
    """Length of the shortest tour, or what no tour can undercut where the time was up; None where that is nothing.

    Every city has two edges; rings that leave cities out are forbidden as they turn up.

    Args:
        distances: a symmetric table.

    Source: Dantzig, Fulkerson & Johnson 1954.
    """
    import numpy as np

    table, clock = np.asarray(distances, dtype=float), time.monotonic() + seconds
    if not 3 < len(table) <= MOST_CITIES:
        return None
    first, second = np.triu_indices(len(table), 1)
    limits: list[tuple[Any, Any, Any]] = [
        (_rows([(first == city) | (second == city) for city in range(len(table))]), 2, 2)
    ]
    bound = None
    while (left := clock - time.monotonic()) > 0:
        found = _solve(table[first, second], limits, 1, left)
        if found.status != 0:
            break
        bound = float(found.fun)
        chosen = found.x > 0.5
        rings = _rings(len(table), first[chosen], second[chosen])
        if len(rings) == 1:
            return Solved(bound, True)
        inside = [np.isin(first, ring) & np.isin(second, ring) for ring in rings]
        limits.append((_rows(inside), 0, [len(ring) - 1 for ring in rings]))
    return None if bound is None else Solved(bound, False)


def _rings(cities: int, first: Any, second: Any) -> list[list[int]]:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    edges = coo_array((first * 0 + 1, (first, second)), shape=(cities, cities))
    count, of = connected_components(edges, directed=False)
    return [[city for city in range(cities) if of[city] == ring] for ring in range(count)]


def _incidence(places: Any, count: int) -> Any:
    """A row a place, a column an arc: 1 where the arc has that place."""
    import numpy as np
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(places)), (places, np.arange(len(places)))), shape=(count, len(places)))


def _rows(rows: Sequence[Any]) -> Any:
    import numpy as np
    from scipy.sparse import csr_array

    return csr_array(np.array(rows, dtype=float))


def _solve(costs: Any, limits: Sequence[tuple[Any, Any, Any]], most: int, seconds: float) -> Any:
    """The result of `scipy.optimize.milp` over whole numbers from 0 to `most`."""
    import numpy as np
    from scipy.optimize import Bounds, LinearConstraint, milp

    told = [LinearConstraint(*limit) for limit in limits]
    options = {"time_limit": seconds, "mip_rel_gap": 0.0}
    return milp(costs, integrality=np.ones(len(costs)), bounds=Bounds(0, most), constraints=told, options=options)
