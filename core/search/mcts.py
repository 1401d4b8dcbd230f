"""Monte-Carlo tree search over draft, debug, improve and merge (UCT, Kocsis & Szepesvári 2006)."""

from __future__ import annotations

import bisect
import math
import random
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field

from core.contracts import Proposal, SearchPolicy
from core.search.parents import marked, merge_partner, repairable, shown
from core.state.journal import Journal
from core.state.node import Node
from utils.strategies import PolicyOptions, PolicySpec

ROOT = ""
"""The virtual node above all drafts."""


class MCTSOptions(PolicyOptions):
    """Monte-Carlo tree search: balances good branches against branches that were seldom tried."""

    num_drafts: int = Field(5, ge=1)
    """Programs that are written from nothing."""
    max_debug_depth: int = Field(3, ge=0)
    """Repairs in a chain before a failed program is given up."""
    merge_prob: float = Field(0.1, ge=0, le=1)
    """Chance that the program to expand is merged with another good one instead of improved."""
    exploration: float = Field(1.4, ge=0)
    """UCT's constant c; 0 is greedy."""


class MCTSPolicy(SearchPolicy):
    """Walks from the virtual root to a node to expand, choosing by UCT; rewards flow back along first parents.

    * The root has room for `num_drafts` drafts; a scored node with v visits for ceil(sqrt(v)) children (progressive
      widening), so that none is ever exhausted; a failed node for one repair, `max_debug_depth` in a chain.
    * A node's reward is its rank among the scored nodes so far, from 1/n to 1; 0 for failures and duplicates.
      Ranks need no scale, which no problem could give beforehand.
    * Proposals under way are seen as visits without reward, so that a round, or a pipeline, spreads.
    * A banned node takes its branch along; where nodes are pinned, only their branches are searched.
    """

    def __init__(self, options: MCTSOptions | None = None) -> None:
        self.options = options or MCTSOptions()
        self._children: dict[str, list[str]] = {}
        self._debugs: dict[str, int] = {}
        self._fitness: list[float] = []
        self._visits = 0

    def ask(self, journal: Journal, rng: random.Random, k: int) -> list[Proposal]:
        pending = _Pending()
        for task in journal.open_tasks:
            parents = task.parent_ids[:1]
            pending.add([ROOT, *reversed([i for parent in parents for i in journal.ancestors(parent)]), *parents])
        return [self._propose(journal, rng, slot, pending) for slot in range(k)]

    def tell(self, journal: Journal, node: Node) -> None:
        """One visit and the node's reward for it and each of its ancestors."""
        parent = node.parent_ids[0] if node.parent_ids else ROOT
        self._children.setdefault(parent, []).append(node.id)
        if node.is_buggy:
            self._debugs[node.id] = self._debugs.get(parent, 0) + 1 if node.operator == "debug" else 0
        journal.record_reward([node.id, *journal.ancestors(node.id)], self._reward(node))
        self._visits += 1

    # ------------------------------------------------------------ learning

    def _reward(self, node: Node) -> float:
        """Share of the scored nodes told so far that are not better; a function of the order of telling alone."""
        if not node.is_scored or node.fitness is None:
            return 0.0
        bisect.insort(self._fitness, node.fitness)
        return bisect.bisect_right(self._fitness, node.fitness) / len(self._fitness)

    # ------------------------------------------------------------ choosing

    def _propose(self, journal: Journal, rng: random.Random, slot: int, pending: _Pending) -> Proposal:
        path, record = self._descend(journal, pending)
        pending.add(path)
        if path[-1] == ROOT:
            return Proposal(operator="draft", slot=slot, why=record)
        node = journal[path[-1]]
        if node.is_buggy:
            return Proposal(operator="debug", parents=(node.id,), slot=slot, why=record)
        draw = rng.random()
        record |= {"draw": round(draw, 6), "merge_prob": self.options.merge_prob}
        if draw < self.options.merge_prob:
            partner, merge = merge_partner(journal, node, rng)
            if partner is not None:
                return Proposal(operator="merge", parents=(node.id, partner.id), slot=slot, why=record | merge)
        return Proposal(operator="improve", parents=(node.id,), slot=slot, why=record)

    def _descend(self, journal: Journal, pending: _Pending) -> tuple[list[str], dict[str, Any]]:
        """The path from the root to the node to expand, and the last comparison made on it."""
        at, path = ROOT, [ROOT]
        record: dict[str, Any] = {"rule": "mcts: room for a draft", "exploration": self.options.exploration}
        while True:
            children = self._live_children(journal, at, pending)
            if self._has_room(journal, at, pending) or not children:
                record["path"] = path[1:]
                return path, record
            scores = [self._uct(journal, child, at, pending) for child in children]
            at = children[max(range(len(children)), key=lambda i: (scores[i], -i))]
            candidates = [
                entry | {"uct": score}
                for score, entry in zip(scores, shown(journal[child] for child in children), strict=False)
            ]
            record |= {"rule": "mcts: highest UCT on the way down", "candidates": candidates, "chosen": at}
            path.append(at)

    def _has_room(self, journal: Journal, at: str, pending: _Pending) -> bool:
        used = len(self._children.get(at, ())) + pending.children.get(at, 0)
        if at == ROOT:
            return (
                not marked(journal, "pinned")
                and journal.roots + pending.children.get(ROOT, 0) < self.options.num_drafts
            )
        node = journal[at]
        if node.is_buggy:
            return used == 0 and self._can_be_debugged(node)
        return node.is_scored and used < math.ceil(math.sqrt(max(1, journal.visits(at)[0])))

    def _live_children(self, journal: Journal, at: str, pending: _Pending) -> list[str]:
        if at == ROOT:
            pinned = [i for i in marked(journal, "pinned") if self._is_live(journal, i, pending)]
            if pinned:
                return pinned
        return [child for child in self._children.get(at, ()) if self._is_live(journal, child, pending)]

    def _is_live(self, journal: Journal, node_id: str, pending: _Pending) -> bool:
        """True if something here or below can be expanded. Scored nodes always can: only repairs are walked."""
        waiting = [node_id]
        while waiting:
            node = journal[waiting.pop()]
            if journal.marks.get(node.id) == "banned":
                continue
            children = self._children.get(node.id, ())
            if node.is_scored:
                return True
            if node.is_buggy and not children and not pending.children.get(node.id) and self._can_be_debugged(node):
                return True
            waiting.extend(children)
        return False

    def _can_be_debugged(self, node: Node) -> bool:
        return repairable(node) and self._debugs.get(node.id, 0) < self.options.max_debug_depth

    def _uct(self, journal: Journal, child: str, parent: str, pending: _Pending) -> float:
        visits, reward = journal.visits(child)
        visits += pending.visits.get(child, 0)
        above = (self._visits if parent == ROOT else journal.visits(parent)[0]) + pending.visits.get(parent, 0)
        if visits == 0:
            return math.inf
        return reward / visits + self.options.exploration * math.sqrt(math.log(max(1, above)) / visits)


@dataclass(slots=True)
class _Pending:
    """What is proposed and has no verdict yet: visits without a reward, and children that do not exist yet."""

    visits: dict[str, int] = field(default_factory=dict)
    children: dict[str, int] = field(default_factory=dict)

    def add(self, path: list[str]) -> None:
        for node_id in path:
            self.visits[node_id] = self.visits.get(node_id, 0) + 1
        self.children[path[-1]] = self.children.get(path[-1], 0) + 1


POLICY = PolicySpec(
    MCTSOptions,
    lambda options, deps: MCTSPolicy(options),
    operators=("draft", "debug", "improve", "merge"),
    keeps_statistics=True,
)
