"""Who descends from whom: children, roots, and how long a chain of debugging a failed program ends."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from core.state.node import Node
from core.state.operators import FREE_OPERATORS


class Lineage:
    """Part of a journal's index, by node ids. Each node is added once, after its parents."""

    def __init__(self) -> None:
        self._children: dict[str, list[str]] = {}
        self._root: dict[str, str] = {}
        self._depth_of_debugging: dict[str, int] = {}
        """Of failed nodes."""
        self._buggy_leaves: dict[int, dict[str, None]] = {}
        """Length of a chain of debugging → the failed nodes without children that end one."""
        self.drafts: list[str] = []
        """Nodes without a parent that the search itself wrote."""
        self.roots = 0
        """Programs that were started from nothing, baselines apart."""

    def add(self, node: Node) -> None:
        for parent in node.parent_ids:
            self._children.setdefault(parent, []).append(node.id)
            if parent in self._depth_of_debugging:
                self._buggy_leaves[self._depth_of_debugging[parent]].pop(parent, None)
        self._root[node.id] = self._root[node.parent_ids[0]] if node.parent_ids else node.id
        self.roots += not node.parent_ids and node.operator != "baseline"
        if not node.parent_ids and node.operator not in FREE_OPERATORS:
            self.drafts.append(node.id)
        if node.is_buggy:
            above = self._depth_of_debugging.get(node.parent_id or "", 0)
            depth = above + 1 if node.operator == "debug" else 0
            self._depth_of_debugging[node.id] = depth
            self._buggy_leaves.setdefault(depth, {})[node.id] = None

    def children(self, node_id: str) -> tuple[str, ...]:
        """In commit order."""
        return tuple(self._children.get(node_id, ()))

    def root(self, node_id: str) -> str:
        """The node without parents from which it descends by first parents: itself, if it has none."""
        return self._root[node_id]

    def buggy_leaves(self, max_debug_depth: int | None, newest: int | None) -> Iterator[str]:
        """Failed nodes without children whose chain of debugging is shorter than `max_debug_depth`, in no order; of
        each length the `newest` at most."""
        for depth, leaves in self._buggy_leaves.items():
            if max_debug_depth is None or depth < max_debug_depth:
                yield from islice(reversed(leaves), newest)
