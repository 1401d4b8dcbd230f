"""Population: the scored programs of one island, best first, capped."""

from __future__ import annotations

import bisect
import random
from collections.abc import Iterator

from core.search.selection import weighted_index
from core.state.node import Node


class Population:
    """At most `capacity` scored nodes, best first, one a behaviour (the better, of equals the shorter program).

    Args:
        capacity: members kept; the worst leaves first. Must be >= 1.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"population capacity {capacity} must be at least 1")
        self.capacity = capacity
        self._members: list[Node] = []
        self._by_signature: dict[tuple[float, ...], Node] = {}
        self._ids: set[str] = set()

    def add(self, node: Node) -> bool:
        """Take in a scored node; False if it is known, behaves like a better member, or is too weak for a full one."""
        if not node.is_scored or node.id in self._ids:
            return False
        twin = self._by_signature.get(node.signature) if node.signature else None
        if twin is not None:
            if _key(twin) <= _key(node):
                return False
            self._remove(twin)
        if len(self._members) == self.capacity:
            if _key(self._members[-1]) <= _key(node):
                return False
            self._remove(self._members[-1])
        bisect.insort(self._members, node, key=_key)
        self._ids.add(node.id)
        if node.signature:
            self._by_signature[node.signature] = node
        return True

    def sample(self, k: int, rng: random.Random) -> list[Node]:
        """At most `k` distinct members drawn by rank: weight n for the best of n, 1 for the worst."""
        left = list(self._members)
        chosen: list[Node] = []
        while left and len(chosen) < k:
            chosen.append(left.pop(weighted_index(range(len(left), 0, -1), rng)))
        return chosen

    def get_top_k(self, k: int) -> list[Node]:
        """The k best, best first."""
        return self._members[:k]

    @property
    def members(self) -> list[Node]:
        """All members, best first."""
        return list(self._members)

    @property
    def best(self) -> Node | None:
        return self._members[0] if self._members else None

    def clear(self) -> None:
        """Forget every member."""
        self._members.clear()
        self._by_signature.clear()
        self._ids.clear()

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Node]:
        return iter(list(self._members))

    def __contains__(self, node: Node) -> bool:
        return node.id in self._ids

    def _remove(self, node: Node) -> None:
        del self._members[next(i for i, member in enumerate(self._members) if member.id == node.id)]
        self._ids.discard(node.id)
        self._by_signature.pop(node.signature, None)


def _key(node: Node) -> tuple[float, int, int]:
    assert node.fitness is not None
    return -node.fitness, len(node.code), node.step
