"""Who goes where when islands exchange their best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from core.search.population import Population
from core.state.node import Node

Migration = Literal["global", "ring", "all"]


def routes(kind: Migration, islands: Sequence[Population], pool: Population) -> list[tuple[Node, int, int]]:
    """(node, from island, to island) of one migration, fixed before the first move.

    Args:
        pool: the bests of all migrations so far, which outlive the reset of their island; `global` adds to it.
    """
    count = len(islands)
    sent = [(island.best, source) for source, island in enumerate(islands) if island.best is not None]
    if kind == "ring":
        return [(node, source, (source + 1) % count) for node, source in sent if node is not None]
    if kind == "global":
        for node, _ in sent:
            if node is not None:
                pool.add(node)
        sent = [(node, (node.island or 0) % count) for node in pool.get_top_k(count)]
    return [(node, source, to) for node, source in sent if node is not None for to in range(count) if to != source]
