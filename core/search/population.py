"""Population: the scored programs of one island, best first, capped."""

from __future__ import annotations

import random
from collections.abc import Container, Iterator

from core.contracts import ParentSelector
from core.search.diversity import prune
from core.search.selectors.rank import RankSelector
from core.state.node import Node


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
        self._members: list[Node] = []

    def add(self, node: Node) -> bool:
        """Take in a scored node; False if it is known, behaves like a better member, or is too weak for a full one."""
        if not node.is_scored or node in self:
            return False
        self._members = prune([*self._members, node])[: self.capacity]
        return node in self

    def sample(self, k: int, rng: random.Random, banned: Container[str] = ()) -> list[Node]:
        """At most `k` distinct members that are not banned, drawn by the selector, best last. [] if there is none."""
        pool = self.allowed(banned)
        return self.selector.select(pool, k, rng) if pool else []

    def get_top_k(self, k: int, banned: Container[str] = ()) -> list[Node]:
        """The k best that are not banned, best first."""
        return self.allowed(banned)[:k]

    def allowed(self, banned: Container[str] = ()) -> list[Node]:
        """Members that are not banned, best first."""
        return [node for node in self._members if node.id not in banned]

    @property
    def best(self) -> Node | None:
        return self._members[0] if self._members else None

    def clear(self) -> None:
        """Forget every member."""
        self._members.clear()

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Node]:
        return iter(list(self._members))

    def __contains__(self, node: Node) -> bool:
        return any(member.id == node.id for member in self._members)
