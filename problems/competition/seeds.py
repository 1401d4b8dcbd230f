"""The seed that a program runs with: the same whenever it is run, in the search and in a refit."""

from __future__ import annotations

from core.state.node import Node
from core.state.task import derive_seed


def seed_of(run_seed: int, node: Node) -> int:
    return derive_seed(run_seed, "run", node.id) % 2**32
