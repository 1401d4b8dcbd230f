"""Keeping a population from filling up with programs that behave alike."""

from __future__ import annotations

from collections.abc import Sequence

from core.state.node import Node


def clusters(nodes: Sequence[Node]) -> list[list[Node]]:
    """Nodes of equal signature together, in order of first appearance; a node without signature is its own cluster."""
    groups: dict[object, list[Node]] = {}
    for node in nodes:
        groups.setdefault(node.signature or node.id, []).append(node)
    return list(groups.values())


def prune(nodes: Sequence[Node]) -> list[Node]:
    """The best node of each cluster, best first; of equals the shorter program, then the older. All must be scored."""
    return sorted((min(group, key=order) for group in clusters(nodes)), key=order)


def order(node: Node) -> tuple[float, int, int]:
    """Sorts scored nodes best first; of equals the shorter program, then the older."""
    assert node.fitness is not None
    return -node.fitness, len(node.code), node.step
