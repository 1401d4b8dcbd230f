"""Control draws beside a search: a share of its steps are independent programs, so that one can say what it added."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import floor

from core.contracts import Proposal, SearchPolicy
from core.events import Event
from core.state.journal import Journal
from core.state.node import Node


def is_control(step: int, share: float) -> bool:
    """True if the step of that number, from 0, is a control draw: they lie evenly, and a resumed run has the same."""
    return floor((step + 1) * share + 1e-9) > floor(step * share + 1e-9)


class WithControl(SearchPolicy):
    """A policy of which a share of the steps are control draws: no parents, no memory, the same writer.

    What a control draw finds is the search's to use like any other program: it is paid for.

    Args:
        policy: proposes all other steps, and is told of every node.
        share: of the steps, from 0 to 1; 1: independent draws alone, and `policy` is never asked.
    """

    def __init__(self, policy: SearchPolicy, share: float) -> None:
        self._policy = policy
        self._share = share

    @property
    def finished_generations(self) -> int | None:
        return self._policy.finished_generations

    def ask(self, journal: Journal, rng: random.Random, k: int) -> list[Proposal]:
        first = journal.steps + len(journal.open_tasks)
        controls = [is_control(step, self._share) for step in range(first, first + k)]
        wanted = controls.count(False)
        proposed = self._policy.ask(journal, rng, wanted) if wanted else []
        if wanted and not proposed:
            return []
        return self._merged(controls, proposed)

    def _merged(self, controls: Sequence[bool], proposed: list[Proposal]) -> list[Proposal]:
        """Both in the order of the steps, up to the first that the policy leaves open."""
        merged: list[Proposal] = []
        rest = iter(proposed)
        for control in controls:
            proposal = self._draw() if control else next(rest, None)
            if proposal is None:
                break
            merged.append(proposal)
        return merged

    def _draw(self) -> Proposal:
        why = {"rule": f"a control draw: {self._share:g} of the steps are independent of the search"}
        return Proposal(operator="control", why=why)

    def tell(self, journal: Journal, node: Node) -> None:
        self._policy.tell(journal, node)

    def drain_events(self) -> list[Event]:
        return self._policy.drain_events()
