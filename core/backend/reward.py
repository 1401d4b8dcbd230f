"""Tells the bandit what each committed node brought, by listening where the policy learns."""

from __future__ import annotations

import random
from typing import Any

from core.backend.desk import QueryDesk
from core.contracts import Proposal, SearchPolicy
from core.state.journal import Journal
from core.state.node import Node


class RewardingPolicy:
    """A SearchPolicy that passes everything on to `inner` and tells `desk` the improvement of each node.

    A policy is told every node in journal order, and all stored nodes again when a run is resumed: just what the
    bandit needs to choose the same again. Other attributes are the inner policy's.
    """

    def __init__(self, inner: SearchPolicy, desk: QueryDesk) -> None:
        self._inner = inner
        self._desk = desk
        self._best: float | None = None

    def ask(self, journal: Journal, rng: random.Random, k: int) -> list[Proposal]:
        return self._inner.ask(journal, rng, k)

    def tell(self, journal: Journal, node: Node) -> None:
        self._inner.tell(journal, node)
        gain = self._gain(node)
        if "/" in node.writer:  # provider/model: a baseline, a user's program or `rules` is nobody's merit
            self._desk.reward(node.id, gain, writer=node.writer, cost_usd=node.metadata.get("cost_usd"))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _gain(self, node: Node) -> float:
        """How far the node is above the best before it, in the problem's unit; 0 for the first and for failures."""
        if not node.is_scored or node.fitness is None:
            return 0.0
        gain = 0.0 if self._best is None else max(0.0, node.fitness - self._best)
        self._best = node.fitness if self._best is None else max(self._best, node.fitness)
        return gain
