"""What is learned from each committed node: by the policy, by whoever rewards writers, and about the best so far."""

from __future__ import annotations

from collections.abc import Callable

from core.contracts import SearchPolicy
from core.state.journal import Journal
from core.state.node import Node
from core.state.operators import FREE_OPERATORS


class Learning:
    """Tells every committed node on, in the same order and with the same outcome whether it is new or stored.

    Args:
        reward: told each step with what it gained over the best before it, in the metric's unit; 0 for none.
    """

    def __init__(self, journal: Journal, policy: SearchPolicy, reward: Callable[[Node, float], None]) -> None:
        self._journal = journal
        self._policy = policy
        self._reward = reward
        self._steps = 0
        self._best_step = 0
        self._best_fitness: float | None = None
        self.repeats = 0
        """Steps in a row, up to now, that wrote programs that were known already."""
        self.nothing_left = 0
        """Steps in a row, up to now, whose writers said that nothing is left to gain."""
        self.tokens = 0
        """Tokens that the committed nodes took, all their calls together."""
        self.usd = 0.0
        """Dollars that they took."""

    @property
    def steps_since_best(self) -> int:
        """Steps since the best node so far was found."""
        return self._journal.steps - self._best_step

    def learn(self, node: Node) -> None:
        """Take in one node, which the journal already holds."""
        self.tokens += (node.prompt_tokens or 0) + (node.completion_tokens or 0)
        self.usd += node.cost_usd or 0.0
        fitness = node.fitness if node.is_scored else None
        if node.operator not in FREE_OPERATORS:
            self._steps += 1
            self.repeats = self.repeats + 1 if node.duplicate_of else 0
            self.nothing_left = self.nothing_left + 1 if node.nothing_left else 0
            self._reward(node, _gain(fitness, self._best_fitness))
        if fitness is not None:
            self._best_fitness = fitness if self._best_fitness is None else max(fitness, self._best_fitness)
        if self._journal.is_best(node.id):
            self._best_step = self._steps
        self._policy.tell(self._journal, self._journal[node.id])


def _gain(fitness: float | None, best: float | None) -> float:
    """What a node adds to the best before it; the first score adds nothing that could be compared."""
    return 0.0 if fitness is None or best is None else max(fitness - best, 0.0)
