"""MAP-Elites: the best program of each cell of a grid over named features, as one more population."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from core.state.node import Node
from utils.syntax import parse


class Grid:
    """One elite a cell. Has the reading half of `Population`, so that a policy treats it as a further island.

    A feature is looked up in `node.metadata["features"]`, which an evaluator may fill; `length` (characters), `nodes`
    and `constants` (of the syntax tree) are known for every program. A program that lacks a feature is not placed.

    Args:
        axes: feature name → {low, high, bins}; values outside fall into the outermost bin.

    Source: Mouret & Clune 2015.
    """

    def __init__(self, axes: Mapping[str, Mapping[str, Any]]) -> None:
        if not axes:
            raise ValueError("search.grid needs at least one feature")
        for name, axis in axes.items():
            if set(axis) != {"low", "high", "bins"} or not axis["low"] < axis["high"] or int(axis["bins"]) < 1:
                raise ValueError(f"search.grid.{name}={dict(axis)}: needs low < high and bins >= 1")
        self._axes = {name: dict(axis) for name, axis in axes.items()}
        self._cells: dict[tuple[int, ...], Node] = {}

    def add(self, node: Node) -> bool:
        """Place a scored node; False if its cell holds one at least as good."""
        cell = self.cell(node) if node.is_scored else None
        if cell is None or node.fitness is None:
            return False
        elite = self._cells.get(cell)
        if elite is not None and elite.fitness is not None and elite.fitness >= node.fitness:
            return False
        self._cells[cell] = node
        return True

    def cell(self, node: Node) -> tuple[int, ...] | None:
        """The cell's index along each axis, or None if a feature is missing or not finite."""
        index = []
        for name, axis in self._axes.items():
            value = feature(node, name)
            if value is None:
                return None
            bins = int(axis["bins"])
            place = math.floor((value - axis["low"]) / (axis["high"] - axis["low"]) * bins)
            index.append(min(max(place, 0), bins - 1))
        return tuple(index)

    def sample(self, k: int, rng: Random) -> list[Node]:
        """At most `k` elites, every cell alike."""
        members = self.members
        return rng.sample(members, min(k, len(members)))

    def get_top_k(self, k: int) -> list[Node]:
        return self.members[:k]

    @property
    def members(self) -> list[Node]:
        """All elites, best first."""
        return sorted(self._cells.values(), key=lambda node: (-(node.fitness or 0.0), node.step))

    @property
    def best(self) -> Node | None:
        members = self.members
        return members[0] if members else None

    def __len__(self) -> int:
        return len(self._cells)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.members)


def feature(node: Node, name: str) -> float | None:
    """The named feature of a program, or None."""
    given = node.metadata.get("features")
    if isinstance(given, Mapping) and name in given:
        value = given[name]
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
    if name == "length":
        return float(len(node.code))
    if name in ("nodes", "constants"):
        try:
            tree = list(ast.walk(parse(node.code)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        return float(len(tree) if name == "nodes" else sum(isinstance(n, ast.Constant) for n in tree))
    return None
