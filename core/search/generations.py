"""Generations: champion and runner-up seed the next round of challengers.

Source: Darwin (one generation: strategist, builders, validator, tournament, the top two advance).
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from pydantic import Field

from core.contracts import Proposal, SearchPolicy
from core.state.node import Node
from utils.strategies import PolicyOptions, PolicySpec

if TYPE_CHECKING:
    from core.state.journal import Journal


class GenerationsOptions(PolicyOptions):
    """Champion and runner-up seed the next generation of challengers."""

    questions: int = Field(2, ge=1)
    """Candidates a generation: one for each question of the strategist."""
    repairs: int = Field(1, ge=0)
    """Further attempts of a candidate that is refused, each told why and a node of its own."""

    @property
    def generation_size(self) -> int:
        return self.questions


class GenerationsPolicy(SearchPolicy):
    """Search policy of the arena family: one round is one generation, one candidate a question.

    Who reigns is read from the verdicts (`Node.tournament`, champion first), so a resumed run that tells the
    stored nodes again knows it too. Before the first tournament the best node of the journal reigns, if there is one.
    """

    def __init__(self, options: GenerationsOptions | None = None) -> None:
        self.options = options or GenerationsOptions()
        self._promoted: tuple[str, ...] = ()
        self._generation = 0

    def ask(self, journal: Journal, rng: random.Random, k: int) -> list[Proposal]:
        """Up to `questions` proposals (at most `k`) of the next generation; parents are champion and runner-up."""
        generation = self._generation + 1
        parents = self._parents(journal)
        why: dict[str, Any] = {"rule": "champion and runner-up of the last tournament", "promoted": list(parents)}
        return [
            Proposal(
                operator="build",
                parents=parents,
                generation=generation,
                slot=slot,
                repairs=self.options.repairs,
                why={**why, "question": slot},
            )
            for slot in range(min(k, self.options.questions))
        ]

    def tell(self, journal: Journal, node: Node) -> None:
        if node.generation is not None:
            self._generation = max(self._generation, node.generation)
        if node.tournament is not None and node.tournament.promoted:
            self._promoted = node.tournament.promoted

    def _parents(self, journal: Journal) -> tuple[str, ...]:
        """Champion and runner-up; pinned nodes come first, banned ones are passed over."""
        pinned = [node_id for node_id, mark in journal.marks.items() if mark == "pinned" and node_id in journal]
        ranked = [*pinned, *self._promoted, *(node.id for node in journal.top(4))]
        allowed = [node_id for node_id in ranked if node_id in journal and journal.marks.get(node_id) != "banned"]
        return tuple(dict.fromkeys(allowed))[:2]


POLICY = PolicySpec(
    GenerationsOptions, lambda options, deps: GenerationsPolicy(options), operators=("build",), whole_rounds=True
)
