"""MAP-Elites: the best program of each cell of a grid over named features, as one more population."""

from __future__ import annotations

import ast
import math
from collections.abc import Container, Mapping
from random import Random
from typing import Self

from pydantic import Field, model_validator

from core.state.node import Node
from utils.direction import finite
from utils.strategies import Options
from utils.syntax import parse

OF_EVERY_PROGRAM = ("length", "nodes", "constants")


class Axis(Options):
    """One feature of the grid: values outside fall into the outermost bin."""

    low: float
    high: float
    bins: int = Field(ge=1)

    @model_validator(mode="after")
    def _has_length(self) -> Self:
        if not self.low < self.high:
            raise ValueError("low must be below high")
        return self


class Grid:
    """One elite a cell. Has the reading half of `Population`, so that a policy treats it as a further island.

    A feature is looked up in `node.features` and in what a user's evaluator measured (`node.metrics`); `length`
    (characters), `nodes` and `constants` (of the syntax tree) are known for every program. A program that lacks a
    feature is not placed.

    Args:
        axes: feature name → axis, at least one.

    Source: Mouret & Clune 2015.
    """

    def __init__(self, axes: Mapping[str, Axis]) -> None:
        self._axes = dict(axes)
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
            inside = min(max(value, axis.low), axis.high)  # a feature may be as large as a float can be
            place = math.floor((inside - axis.low) / (axis.high - axis.low) * axis.bins)
            index.append(min(place, axis.bins - 1))
        return tuple(index)

    def lacking(self, node: Node) -> str:
        """The first feature that a program lacks; '' where it has all of them."""
        return next((name for name in self._axes if feature(node, name) is None), "")

    def sample(self, k: int, rng: Random, banned: Container[str] = ()) -> list[Node]:
        """At most `k` elites that are not banned, every cell alike."""
        pool = self.allowed(banned)
        return rng.sample(pool, min(k, len(pool)))

    def get_top_k(self, k: int, banned: Container[str] = ()) -> list[Node]:
        """The k best elites that are not banned, best first."""
        return self.allowed(banned)[:k]

    def allowed(self, banned: Container[str] = ()) -> list[Node]:
        """Elites that are not banned, best first."""
        elites = sorted(self._cells.values(), key=lambda node: (-(node.fitness or 0.0), node.step))
        return [node for node in elites if node.id not in banned]


def feature(node: Node, name: str) -> float | None:
    """The named feature of a program, or None."""
    known = {**node.metrics, **node.features}
    if name in known:
        value = known[name]
        return finite(value) if isinstance(value, int | float) else None
    if name == "length":
        return float(len(node.code))
    if name in ("nodes", "constants"):
        try:
            tree = list(ast.walk(parse(node.code)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        return float(len(tree) if name == "nodes" else sum(isinstance(n, ast.Constant) for n in tree))
    return None
