"""Draft, then debug or improve: the greedy tree search of the seed (and of AIDE, Jiang et al. 2025)."""

from __future__ import annotations

import random
from typing import Any

from pydantic import Field

from core.contracts import Proposal, SearchPolicy
from core.search.parents import best_allowed, marked, merge_partner, repairable, shown, steadiest
from core.state.journal import Journal
from core.state.node import Node
from utils.counts import counted
from utils.strategies import PolicyOptions, PolicySpec

DEBUG_POOL = 64
"""Newest failures that may be drawn for repair: bounds the cost of a step in a run of any length."""


Pending = tuple[str, tuple[str, ...]]
"""Operator and parents of a proposal that has no verdict yet."""


class ThreePhaseOptions(PolicyOptions):
    """Draft, then debug or improve: greedy, for programs that take long to run."""

    num_drafts: int = Field(5, ge=1)
    """Programs written from nothing before any is improved."""
    debug_prob: float = Field(0.5, ge=0, le=1)
    """Chance that a failed program is repaired instead of a good one improved."""
    max_debug_depth: int = Field(3, ge=0)
    """Repairs in a chain before a failed program is given up."""
    merge_prob: float = Field(0.1, ge=0, le=1)
    """Chance that the best program is merged with another good one instead of improved."""


class ThreePhasePolicy(SearchPolicy):
    """Three phases a proposal, in this order:

    1. draft while fewer than `num_drafts` programs were started from nothing (the user's own count too);
    2. with probability `debug_prob`, debug a failed leaf whose chain of repairs is shorter than `max_debug_depth`;
    3. improve the best node, or with probability `merge_prob` merge it with another good one; draft if none is good.

    Keeps no state: everything is read from the journal, so a resumed run goes on alike.
    A banned node is never a parent; pinned nodes are preferred wherever they fit.
    """

    def __init__(self, options: ThreePhaseOptions | None = None) -> None:
        self.options = options or ThreePhaseOptions()

    def ask(self, journal: Journal, rng: random.Random, k: int) -> list[Proposal]:
        """`k` proposals; drafts and repairs that are under way, in this round or before it, are taken into account."""
        pending: list[Pending] = [(task.operator, task.parent_ids) for task in journal.open_tasks]
        proposals: list[Proposal] = []
        for slot in range(k):
            proposals.append(self._propose(journal, rng, slot, pending))
            pending.append((proposals[-1].operator, proposals[-1].parents))
        return proposals

    def tell(self, journal: Journal, node: Node) -> None:
        """Nothing to learn: the journal knows."""

    def _propose(self, journal: Journal, rng: random.Random, slot: int, pending: list[Pending]) -> Proposal:
        drafts = journal.roots + sum(operator == "draft" for operator, _ in pending)
        if drafts < self.options.num_drafts:
            why: dict[str, Any] = {"rule": f"draft phase: {drafts} of {counted(self.options.num_drafts, 'draft')}"}
            return Proposal(operator="draft", slot=slot, why=why)
        draw = rng.random()
        taken = {node_id for operator, parents in pending if operator == "debug" for node_id in parents}
        leaves = self._leaves(journal, taken)
        if leaves and draw < self.options.debug_prob:
            chosen = rng.choice(leaves)
            why = {
                "rule": "debug phase: draw < debug_prob",
                "draw": round(draw, 6),
                "debug_prob": self.options.debug_prob,
                "candidates": shown(leaves),
                "count": len(leaves),
            }
            return Proposal(operator="debug", parents=(chosen.id,), slot=slot, why=why)
        return self._improve(journal, rng, slot, draw)

    def _improve(self, journal: Journal, rng: random.Random, slot: int, debug_draw: float) -> Proposal:
        best = best_allowed(journal, 5)
        why: dict[str, Any] = {"debug_draw": debug_draw, "debug_prob": self.options.debug_prob}
        if not best:
            why["rule"] = "draft: no node has a score"
            return Proposal(operator="draft", slot=slot, why=why)
        best = steadiest(best)
        draw = rng.random()
        why |= {"draw": round(draw, 6), "merge_prob": self.options.merge_prob, "candidates": shown(best)}
        if draw < self.options.merge_prob:
            partner, record = merge_partner(journal, best[0], rng)
            if partner is not None:
                why |= {"rule": "merge: draw < merge_prob", **record}
                return Proposal(operator="merge", parents=(best[0].id, partner.id), slot=slot, why=why)
        why["rule"] = "improve phase: the best node"
        return Proposal(operator="improve", parents=(best[0].id,), slot=slot, why=why)

    def _leaves(self, journal: Journal, taken: set[str]) -> list[Node]:
        """Failed leaves worth a repair, pinned ones alone where there are any."""
        banned = set(marked(journal, "banned"))
        leaves = journal.buggy_leaves(self.options.max_debug_depth, newest=DEBUG_POOL)
        leaves = [n for n in leaves if repairable(n) and n.id not in taken and n.id not in banned]
        if journal.leader is not None:  # what its writer could not mend at once is worth less than a new idea
            leaves = [n for n in leaves if not n.attempts]
        pinned = [n for n in leaves if journal.marks.get(n.id) == "pinned"]
        return pinned or leaves


POLICY = PolicySpec(
    ThreePhaseOptions,
    lambda options, deps: ThreePhasePolicy(options),
    operators=("draft", "debug", "improve", "merge"),
)
