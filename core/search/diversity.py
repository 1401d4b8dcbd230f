"""Keeping a population from filling up with programs that behave alike."""

from __future__ import annotations

from collections.abc import Sequence

from core.state.node import Node


def same_behaviour(a: Node, b: Node) -> bool:
    """True if both were scored on cases and agree on every one (their signatures are equal)."""
    return bool(a.signature) and a.signature == b.signature


def clusters(nodes: Sequence[Node]) -> list[list[Node]]:
    """Nodes of equal signature together, in order of first appearance; a node without signature is its own cluster."""
    groups: dict[object, list[Node]] = {}
    for node in nodes:
        groups.setdefault(node.signature or node.id, []).append(node)
    return list(groups.values())


def prune(nodes: Sequence[Node], per_signature: int = 1) -> list[Node]:
    """Keep the `per_signature` best of each cluster; of equals the shorter program, then the older.

    The order of the survivors is kept.
    """
    kept: set[str] = set()
    for group in clusters(nodes):
        group = sorted(group, key=lambda n: (-(n.fitness or 0.0), len(n.code), n.step))
        kept.update(node.id for node in group[:per_signature])
    return [node for node in nodes if node.id in kept]
