"""Ranking: the scored nodes of a journal, best first, in order whenever somebody looks."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from threading import Lock

_FEW = 64
"""So many new places are each put where they belong; of more, all are sorted."""


class Ranking:
    """Places of nodes by fitness, best first, the earliest of equals. Thread-safe.

    The best is known at once; a resume adds many places before anybody asks for more.
    """

    def __init__(self) -> None:
        self._sorted: list[tuple[float, int]] = []
        self._new: list[tuple[float, int]] = []
        self._best: tuple[float, int] | None = None
        self._lock = Lock()

    def add(self, fitness: float, place: int) -> None:
        """Take in a node that scored."""
        one = (-fitness, place)
        with self._lock:
            self._new.append(one)
            if self._best is None or one < self._best:
                self._best = one

    @property
    def best(self) -> int | None:
        """Place of the best; None before the first."""
        return None if self._best is None else self._best[1]

    def top(self, k: int | None = None) -> list[int]:
        """Places of the k best, or of all."""
        self._settle()
        return [place for _, place in self._sorted[:k]]

    def __iter__(self) -> Iterator[int]:
        self._settle()
        return (place for _, place in self._sorted)

    def _settle(self) -> None:
        with self._lock:
            if len(self._new) < _FEW:
                for one in self._new:
                    insort(self._sorted, one)
            else:
                self._sorted = sorted(self._sorted + self._new)
            self._new = []
