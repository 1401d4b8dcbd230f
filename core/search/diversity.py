"""Programs that behave alike, for whoever draws from all of them as from one."""

from __future__ import annotations

from collections.abc import Sequence

from core.state.node import Node


def clusters(nodes: Sequence[Node]) -> list[list[Node]]:
    """Nodes of equal signature together, in order of first appearance; a node without signature is its own cluster."""
    groups: dict[object, list[Node]] = {}
    for node in nodes:
        groups.setdefault(node.signature or node.id, []).append(node)
    return list(groups.values())
