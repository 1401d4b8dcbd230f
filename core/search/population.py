"""Population: the scored programs of one island, best first, capped."""

from __future__ import annotations

import random
from bisect import insort
from collections.abc import Collection, Iterator

from core.contracts import ParentSelector
from core.search.selectors.rank import RankSelector
from core.state.node import Node


class _Member:
    """A node in its order: the best first; of equals the shorter program, then the older."""

    __slots__ = ("_length", "fitness", "node")

    def __init__(self, node: Node) -> None:
        assert node.fitness is not None
        self.node, self.fitness = node, node.fitness
        self._length: int | None = None

    @property
    def length(self) -> int:
        """Characters of the program, which may have to be read from the store: asked for among equals alone."""
        if self._length is None:
            self._length = len(self.node.code)
        return self._length

    def __lt__(self, other: _Member) -> bool:
        if self.fitness != other.fitness:
            return self.fitness > other.fitness
        return (self.length, self.node.step) < (other.length, other.node.step)


class Population:
    """At most `capacity` scored nodes, best first, one a behaviour (the better, of equals the shorter program).

    Args:
        capacity: members kept; the worst leaves first. Must be >= 1.
        selector: how `sample` draws; by rank if absent.
    """

    def __init__(self, capacity: int, selector: ParentSelector | None = None) -> None:
        if capacity < 1:
            raise ValueError(f"population capacity {capacity} must be at least 1")
        self.capacity = capacity
        self.selector = selector or RankSelector()
        self._members: list[_Member] = []
        self._by_behaviour: dict[object, _Member] = {}
        self._nodes: list[Node] = []
        """Those of the members, kept since they are asked for several times a proposal."""

    def add(self, node: Node) -> bool:
        """Take in a scored node; False if it is known, behaves like a better member, or is too weak for a full one.

        Nearly every node of a long search is too weak, and is refused at once.
        """
        if not node.is_scored or self._is_too_weak(node) or node in self:
            return False
        new, behaviour = _Member(node), node.signature or node.id
        twin = self._by_behaviour.get(behaviour)
        if twin is not None:
            if not new < twin:
                return False
            self._members.remove(twin)
        insort(self._members, new)
        self._by_behaviour[behaviour] = new
        if len(self._members) > self.capacity:
            worst = self._members.pop().node
            del self._by_behaviour[worst.signature or worst.id]
        self._nodes = [member.node for member in self._members]
        return self._by_behaviour.get(behaviour) is new

    def _is_too_weak(self, node: Node) -> bool:
        """True if every place is taken by a better one, whatever it does."""
        full = len(self._members) == self.capacity
        return full and node.fitness is not None and node.fitness < self._members[-1].fitness

    def sample(self, k: int, rng: random.Random, banned: Collection[str] = ()) -> list[Node]:
        """At most `k` distinct members that are not banned, drawn by the selector, best last. [] if there is none."""
        pool = self.allowed(banned)
        return self.selector.select(pool, k, rng) if pool else []

    def get_top_k(self, k: int, banned: Collection[str] = ()) -> list[Node]:
        """The k best that are not banned, best first."""
        return self.allowed(banned)[:k]

    def allowed(self, banned: Collection[str] = ()) -> list[Node]:
        """Members that are not banned, best first."""
        return [node for node in self._nodes if node.id not in banned] if banned else self._nodes.copy()

    @property
    def best(self) -> Node | None:
        return self._members[0].node if self._members else None

    def clear(self) -> None:
        """Forget every member."""
        self._members.clear()
        self._by_behaviour.clear()
        self._nodes = []

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes)

    def __contains__(self, node: Node) -> bool:
        return any(one.id == node.id for one in self._nodes)
