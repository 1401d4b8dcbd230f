"""Programs that no writer is asked for: the user's, the problem's baselines, the blend of the best."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from core.state.node import Node
from core.state.task import Task, derive_seed, node_id


def given_nodes(
    seed: int, programs: Sequence[tuple[str, str]], operator: Literal["user", "baseline"], own: Collection[str] = ()
) -> list[tuple[Task, Node]]:
    """(name, code) pairs with their identity in the run.

    Args:
        own: names of baselines that the user wrote.
    """
    found = []
    for slot, (name, code) in enumerate(programs):
        given = node_id(seed, operator, slot)
        writer = "user" if name in own else operator
        task = Task(node_id=given, operator=operator, round=0, slot=slot, seed=derive_seed(seed, operator, slot))
        node = Node(id=given, code=code, plan=name, name=name, operator=operator, slot=slot, writer=writer)
        found.append((task, node))
    return found


def blended_node(
    seed: int, code: str, members: Sequence[Node], plan: str, *, round_: int, slot: int
) -> tuple[Task, Node]:
    """The program that blends `members`, with its identity in the run."""
    own, parents = node_id(seed, "ensemble", slot), tuple(member.id for member in members)
    task = Task(
        node_id=own, operator="ensemble", parent_ids=parents, round=round_, slot=slot,
        seed=derive_seed(seed, "ensemble", slot),
    )  # fmt: skip
    node = Node(id=own, code=code, plan=plan, operator="ensemble", parent_ids=parents, slot=slot, writer="ensemble")
    return task, node
