"""TSPLIB's published optima, and whether an instance that is called like one of them can be it."""

from __future__ import annotations

import re
from typing import Any

from problems.tsp.tour_instance import TourInstance
from utils.counts import counted

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


def take_published(one: TourInstance) -> None:
    """Give the instance the optimum of its name and number of cities, or say in `note` why that cannot be its own.

    A name proves nothing: the optimum has to lie between a length that no tour undercuts and that of a tour.
    """
    optimum, number = OPTIMA.get(one.name), re.search(r"\d+$", one.name)
    if optimum is None or number is None:
        return
    if int(number[0]) != len(one):
        why = f"it has {counted(len(one), 'city', 'cities')}"
    elif one.reference > optimum * (1 + 1e-9):
        why = f"no tour of these cities is shorter than {one.reference:.6g}"
    elif (length := length_of_some_tour(one.table())) < optimum * (1 - 1e-9):
        why = f"a tour of these cities is only {length:.6g} long"
    else:
        one.best = float(optimum)
        return
    one.note = f"{one.name} is not TSPLIB's, whose shortest tour is {optimum}: {why}; its reference is a lower bound"


def length_of_some_tour(distances: Any) -> float:
    """From each city to the nearest that is left, then 2-opt: some 5 % above the shortest (Johnson & McGeoch 1997)."""
    import numpy as np

    table = np.asarray(distances, dtype=float)
    count = len(table)
    left, order, least = np.ones(count, dtype=bool), [0], 1e-9 * table.max()
    for _ in range(count - 1):
        left[order[-1]] = False
        order.append(int(np.where(left, table[order[-1]], np.inf).argmin()))
    tour = np.array(order)
    shorter = True
    while shorter:
        shorter = False
        for start in range(count - 2):
            here, then = tour[start], tour[start + 1]
            ends, after = tour[start + 2 :], np.append(tour[start + 3 :], tour[0])
            gains = table[here, then] + table[ends, after] - table[here, ends] - table[then, after]
            if gains.max() > least:
                end = start + 2 + int(gains.argmax())
                tour[start + 1 : end + 1] = tour[start + 1 : end + 1][::-1].copy()
                shorter = True
    return float(table[tour, np.roll(tour, -1)].sum())
